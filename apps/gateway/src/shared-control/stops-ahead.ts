/**
 * Stops that stand in the log behind a word that the store keeps waiting: obeyed ahead of it, and once more in their place, since
 * something before them may let the agent in.
 */
import type { ControlLog } from '#contracts';
import { decidedBy, stopOf } from './mask-act.js';
import { READ_COUNT_MAX, readSaid, type Said } from './said.js';

export interface StopsAheadParts {
  log: Pick<ControlLog, 'readAfter'>;
  isOwn: (said: Said) => boolean;
  /**
   * @param passed own words that stand before it
   * @returns whether anything of it was left
   */
  obey: (stop: Said, ageMs: number, passed: ReadonlySet<string>) => Promise<boolean>;
}

export class StopsAhead {
  readonly #parts: StopsAheadParts;
  /** Up to where it was looked for them; null: what was read further on has come in its place. */
  #cursor: string | null = null;
  /** Own words that stand up to there. */
  #passed = new Set<string>();
  /** By a name as `decidedBy` gives it, where the last of them stands that decided it. */
  #decided = new Map<string, string>();

  constructor(parts: StopsAheadParts) {
    this.#parts = parts;
  }

  /** By those that were obeyed and stand further on, as `decidedBy` says it: no word before them lets in whom they stopped. */
  get decided(): Iterable<string> {
    return this.#decided.keys();
  }

  /** @param waiting where the word that waits stands. Rejects as the log does. */
  async hear(waiting: string): Promise<void> {
    const { log, isOwn, obey } = this.#parts;
    this.#cursor ??= waiting;
    for (;;) {
      const { entries } = await log.readAfter(this.#cursor, READ_COUNT_MAX);
      for (const { text, ageMs, cursor } of entries) {
        const said = readSaid(text);
        const stop = said && stopOf(said.word);
        if (said !== null && isOwn(said)) this.#passed.add(said.id);
        else if (said !== null && stop !== null)
          await obey({ ...said, word: stop }, ageMs, this.#passed).then(
            (isObeyed) => isObeyed && this.#note(decidedBy(stop), cursor),
            // What refuses it is told in its place.
            () => {},
          );
        this.#cursor = cursor;
      }
      if (entries.length < READ_COUNT_MAX) return;
    }
  }

  /** The word that stands there is to be obeyed in its place. */
  reach(cursor: string): void {
    for (const [name, at] of this.#decided) if (at === cursor) this.#decided.delete(name);
  }

  /** It was. */
  pass(cursor: string): void {
    if (cursor === this.#cursor) this.end();
  }

  /** Nothing is known of what is further on. */
  end(): void {
    this.#cursor = null;
    this.#passed = new Set();
    this.#decided = new Map();
  }

  #note(decided: readonly string[], cursor: string): void {
    for (const name of decided) this.#decided.set(name, cursor);
  }
}
