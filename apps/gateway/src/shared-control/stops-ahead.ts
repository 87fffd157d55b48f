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
  /** Up to where it was looked for them; null: no word waits. */
  #cursor: string | null = null;
  /** Own words that stand up to there. */
  #passed = new Set<string>();
  #decided = new Set<string>();

  constructor(parts: StopsAheadParts) {
    this.#parts = parts;
  }

  /** By those that were obeyed, as `decidedBy` says it: they stand behind the word that waits, which lets in nobody whom they stopped. */
  get decided(): ReadonlySet<string> {
    return this.#decided;
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
            (isObeyed) => isObeyed && this.#note(decidedBy(stop)),
            // What refuses it is told in its place.
            () => {},
          );
        this.#cursor = cursor;
      }
      if (entries.length < READ_COUNT_MAX) return;
    }
  }

  /** It waits no more. */
  end(): void {
    this.#cursor = null;
    this.#passed = new Set();
    this.#decided = new Set();
  }

  #note(decided: readonly string[]): void {
    for (const name of decided) this.#decided.add(name);
  }
}
