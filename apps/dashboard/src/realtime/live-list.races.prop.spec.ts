/**
 * A list that a live topic continues, while things come, the topic drops its oldest or begins anew, and older pages are asked for, in
 * any order in which what is read arrives. Whatever the order: once all has come, the list is without a gap, with each thing once.
 */
import { type InfiniteData, InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Page } from '#contracts';
import { checkRaces, letAllCome, RACES_MS, turn } from '#testing';
import { readOlder } from '../api/read-older';
import { HistoryMark, readAnewIfTorn, spanOf } from './history-mark';
import { liveOverHistory } from './live-over-history';

const PAGE_ROWS = 2;
const SNAPSHOT_ROWS = 2;
/** The topic keeps no more. */
const LIVE_ROWS_MAX = 3;

interface Acts {
  happens: ('thing' | 'reset' | 'restart')[];
  older: 'older'[];
  together: number[];
}

type Cursor = number | null;

const historyOf = (client: QueryClient, readPage: (cursor: Cursor) => Promise<Page<number>>) =>
  new InfiniteQueryObserver<Page<number>, Error, InfiniteData<Page<number>>, readonly string[], Cursor>(
    client,
    {
      queryKey: ['things'],
      queryFn: ({ pageParam }) => readPage(pageParam),
      initialPageParam: null,
      getNextPageParam: ({ next_cursor }) => (next_cursor === null ? null : Number(next_cursor)),
      staleTime: 0,
    },
  );

class Race {
  isFree = false;
  readonly trail: string[] = [];
  /** Each is when it was, and its own name. */
  #thingCount = 4;
  /** Newest first. */
  #live: number[] | null = null;
  #startCount = 0;
  readonly #mark = new HistoryMark();
  readonly #client = new QueryClient();
  readonly #history: ReturnType<typeof historyOf>;
  readonly #close: () => void;

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {
    this.#history = historyOf(this.#client, (cursor) => {
      if (cursor === null) this.#mark.noteReading();
      return this.#readPage(cursor);
    });
    this.#close = this.#history.subscribe(() => this.#render());
  }

  async port(what: string): Promise<void> {
    if (!this.isFree) await this.scheduler.schedule(Promise.resolve(), what);
  }

  async #readPage(cursor: number | null): Promise<Page<number>> {
    await this.port(`ask ${cursor}`);
    const newest = cursor === null ? this.#thingCount : cursor - 1;
    const items = Array.from({ length: Math.min(PAGE_ROWS, newest) }, (_, index) => newest - index);
    const oldest = items.at(-1) ?? 0;
    await this.port(`answer ${items}`);
    return { items, next_cursor: oldest > 1 ? String(oldest) : null };
  }

  #render(): void {
    const span = spanOf(this.#live, (at) => at);
    this.trail.push(`live ${this.#live}, history ${this.#pages()}`);
    readAnewIfTorn(this.#mark, { startCount: this.#startCount, span }, this.#history.getCurrentResult());
  }

  #pages(): number[] {
    return this.#history.getCurrentResult().data?.pages.flatMap(({ items }) => items) ?? [];
  }

  /** @param rows none: of a gateway that has begun anew, what came since alone */
  #begin(rows: number): void {
    this.#startCount += 1;
    this.#live = Array.from(
      { length: Math.min(rows, this.#thingCount) },
      (_, index) => this.#thingCount - index,
    );
    this.#render();
  }

  async #happen(): Promise<void> {
    for (const act of this.acts.happens) {
      await this.port(act);
      this.trail.push(act);
      if (act === 'thing') {
        // A topic begins with more than what comes between two readings.
        if (this.#live === null) continue;
        this.#thingCount += 1;
        this.#live = [this.#thingCount, ...this.#live].slice(0, LIVE_ROWS_MAX);
        this.#render();
        continue;
      }
      // Nobody is told of what happens before it is there again.
      if (this.#live !== null) this.#thingCount += LIVE_ROWS_MAX;
      this.#begin(act === 'restart' ? 0 : SNAPSHOT_ROWS);
    }
  }

  async #ask(): Promise<void> {
    for (const act of this.acts.older) {
      await this.port(act);
      this.trail.push(act);
      void readOlder(this.#history.getCurrentResult());
    }
  }

  async run(): Promise<void> {
    void this.#happen();
    void this.#ask();
    await letAllCome(this.scheduler, this.acts.together);
  }

  async check(): Promise<void> {
    this.isFree = true;
    if (this.#live === null) this.#begin(SNAPSHOT_ROWS);
    for (let nth = 0; nth < 10; nth += 1) await turn();
    this.#close();
    this.#client.clear();
    const idOf = String;
    const list = liveOverHistory(this.#live ?? [], this.#pages(), { idOf, atOf: (at) => at });
    expect(list.length).toBeGreaterThanOrEqual(PAGE_ROWS);
    expect(list).toEqual(list.map((_, index) => this.#thingCount - index));
  }
}

const acts: fc.Arbitrary<Acts> = fc.record({
  happens: fc.array(fc.constantFrom('thing', 'thing', 'thing', 'reset', 'restart'), { maxLength: 10 }),
  older: fc.array(fc.constant('older'), { maxLength: 4 }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'a list that goes on live has no gap and nothing twice, whenever its pages are read',
  {
    timeout: RACES_MS,
  },
  () => checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 200),
);
