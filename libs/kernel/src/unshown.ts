/** What holds secrets shows nothing of itself in JSON, in texts and in `util.inspect`. Its fields are private ones (`#`). */
import { inspect } from 'node:util';

const HIDDEN = '[secrets]';

export abstract class Unshown {
  toJSON(): string {
    return HIDDEN;
  }

  toString(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
