/**
 * One run of a model of what the database keeps: the same is done to a store in a file and to plain lists, and what both answer is
 * compared. The file is closed and opened again, cut as a process that dies leaves it, and has no more pages than the run allows.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Page, PageQuery } from '#contracts';
import { FakeClock, modelRuns, turn } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { SqliteStore } from './sqlite-store.js';
import { Refused, within } from './store-reference.fixture.js';

/** More than are in any listing. */
export const ALL = 500;
export const EVERYTHING = 1e9;

/** A write as it is issued; how it is answered says the reference's method of the same name. */
export interface Write {
  name: string;
  args: unknown[];
}

function callOf(target: object, name: string, args: unknown[]): unknown {
  const method = (target as Record<string, (...args: unknown[]) => unknown>)[name];
  if (method === undefined) throw new Error(`there is no ${name}`);
  return method.apply(target, args);
}

/** A listing that is read page by page, with what else happens between two of them. */
export interface Walk {
  name: string;
  query: { tenant_id: string; session_id?: string | undefined; order?: 'asc' | 'desc' };
  cursor?: string;
  last?: unknown;
}

/** The oldest rows go: those of some age, or what does not fit. */
interface RetentionAct {
  agoMs: number;
  bytesMax: number | null;
}

export type StoreAct<Draft> =
  | { do: 'write'; drafts: Draft[] }
  | { do: 'clock'; byMs: number }
  | { do: 'walk'; walk: Walk }
  | { do: 'turn'; nth: number; limit: number }
  | { do: 'look' | 'reopen' }
  | ({ do: 'retain' } & RetentionAct)
  | { do: 'die'; drafts: Draft[]; turns: number; share: number };

export abstract class StoreRun<Draft> {
  readonly trail: string[] = [];
  protected readonly clock: FakeClock;
  protected store: SqliteStore;
  protected walks: Walk[] = [];
  readonly #folder: string;
  readonly #pageCountMax: number | null;
  #fileCount = 0;
  #path: string;

  constructor(folder: string, pageCountMax: number | null, nowMs: number) {
    this.#folder = mkdtempSync(join(folder, 'run-'));
    this.#path = this.#newPath();
    this.#pageCountMax = pageCountMax;
    this.clock = new FakeClock(nowMs);
    this.store = this.#storeAt(this.#path);
  }

  /** The plain lists. */
  protected abstract readonly reference: object;
  /** What has the store's side of the reference's methods. */
  protected abstract get port(): object;
  /** What names rows that are there is chosen now. */
  protected abstract writeOf(draft: Draft): Write;
  /** All that is stored, as far as nobody has to know where to look for it. */
  protected abstract content(): Promise<unknown>;
  protected abstract referenceContent(): unknown;
  /** At what there is besides. */
  protected abstract lookAround(): Promise<void>;
  protected abstract retain(act: RetentionAct): Promise<void>;
  /** Characters with which a page ends, and those of an item. */
  protected abstract charsOf(listing: string): readonly [charsMax: number, (item: unknown) => number];

  /** The content tells nothing of it, should the process die. */
  protected isUnseen({ args }: Write): boolean {
    return isDeepStrictEqual(args, [[]]);
  }

  /** A page may end before it is full. */
  protected mayEndEarly(_listing: string): boolean {
    return false;
  }

  protected isBeyond(item: unknown, last: unknown, order: 'asc' | 'desc' = 'desc'): boolean {
    const [{ seq }, { seq: lastSeq }] = [item as { seq: number }, last as { seq: number }];
    return order === 'asc' ? seq > lastSeq : seq < lastSeq;
  }

  async begin(): Promise<void> {
    await this.store.open();
  }

  async finish(): Promise<void> {
    await this.look();
    while (this.walks.length > 0) await this.turnPage(0, 2);
    await this.#reopen();
  }

  async end(): Promise<void> {
    await this.store.close();
    rmSync(this.#folder, { recursive: true });
  }

  async apply(act: StoreAct<Draft>): Promise<void> {
    this.trail.push(JSON.stringify(act));
    if (act.do === 'write') await this.#write(act.drafts.map((draft) => this.writeOf(draft)));
    if (act.do === 'clock') this.clock.advance(act.byMs);
    if (act.do === 'walk' && this.walks.length < 4) this.walks.push({ ...act.walk });
    if (act.do === 'turn') await this.turnPage(act.nth, act.limit);
    if (act.do === 'look') await this.look();
    if (act.do === 'retain') await this.retain(act);
    if (act.do === 'reopen') await this.#reopen();
    if (act.do === 'die') await this.#die(act);
  }

  async #write(writes: Write[]): Promise<void> {
    const answers = await Promise.allSettled(writes.map((write) => this.#issue(write)));
    for (const [index, write] of writes.entries()) {
      const answer = answers[index] as PromiseSettledResult<unknown>;
      if (answer.status === 'rejected' && this.#isFull(answer.reason)) continue;
      const expected = this.#answerOf(write);
      if (expected instanceof Refused) expect(answer, write.name).toMatchObject({ status: 'rejected' });
      else expect(answer, write.name).toEqual({ status: 'fulfilled', value: expected });
    }
  }

  async #issue({ name, args }: Write): Promise<unknown> {
    return this.ask(name, ...args);
  }

  #answerOf({ name, args }: Write): unknown {
    try {
      return this.#expected(name, ...args);
    } catch (error) {
      if (error instanceof Refused) return error;
      throw error;
    }
  }

  #isFull(error: unknown): boolean {
    return this.#pageCountMax !== null && (error as { code?: string }).code === 'store_full';
  }

  /** One page: the rows next to the last one seen, as they are now. */
  protected async turnPage(nth: number, limit: number): Promise<void> {
    const walk = this.walks[nth % (this.walks.length || 1)];
    if (walk === undefined) return;
    const { name, query, cursor, last } = walk;
    const page = (await this.ask(name, { ...query, limit, cursor })) as Page<unknown>;
    const listed = this.#expected(name, query) as unknown[];
    const beyond = listed.filter((item) => last === undefined || this.isBeyond(item, last, query.order));
    const expected = within(beyond, limit, ...this.charsOf(name));
    const endsEarly = this.mayEndEarly(name) && page.next_cursor !== null;
    const shown = endsEarly ? expected.slice(0, page.items.length) : expected;
    expectSame(page.items, shown, () => `${name} ${JSON.stringify(query)}`);
    expect(page.next_cursor, `the next page of ${name}`).not.toBe(cursor);
    if (!endsEarly)
      expect(page.next_cursor === null, `the last page of ${name}`).toBe(shown.length === beyond.length);
    walk.last = page.items.at(-1) ?? last;
    if (page.next_cursor === null) this.walks = this.walks.filter((each) => each !== walk);
    else walk.cursor = page.next_cursor;
  }

  protected async readThrough(walk: Walk): Promise<void> {
    const others = this.walks;
    this.walks = [walk];
    while (this.walks.length > 0) await this.turnPage(0, ALL);
    this.walks = others;
  }

  protected ask(name: string, ...args: unknown[]): unknown {
    return callOf(this.port, name, args);
  }

  #expected(name: string, ...args: unknown[]): unknown {
    return callOf(this.reference, name, args);
  }

  protected async compare(name: string, ...args: unknown[]): Promise<void> {
    const expected = this.#expected(name, ...args);
    expectSame(await this.ask(name, ...args), expected, () => `${name} ${JSON.stringify(args)}`);
  }

  protected async look(): Promise<void> {
    expectSame(await this.content(), this.referenceContent(), () => 'what is stored');
    await this.lookAround();
  }

  /** @returns null where the disk was too full to delete */
  protected async enforceRetention(bounds: { beforeMs: number | null; bytesMax: number | null }) {
    return this.store.enforceRetention(bounds).catch((error) => {
      if (!this.#isFull(error)) throw error;
      return null;
    });
  }

  async #reopen(): Promise<void> {
    await this.store.close();
    this.store = this.#storeAt(this.#path);
    await this.store.open();
    await this.look();
  }

  /** At some byte of what it writes: of the writes under way some are kept, the first ones, among them all that it acknowledged. */
  async #die({ drafts, turns, share }: StoreAct<Draft> & { do: 'die' }): Promise<void> {
    const issued = drafts.map((draft) => this.writeOf(draft)).filter((write) => !this.isUnseen(write));
    const acknowledged = new Set<Write>();
    const answers = issued.map((write) => this.#issue(write).then(() => acknowledged.add(write)));
    for (const answer of answers) answer.catch(() => {});
    for (let n = 0; n < turns; n += 1) await turn();
    const [lastThen] = issued.filter((write) => acknowledged.has(write)).slice(-1);
    const lengthThen = statSync(`${this.#path}-wal`).size;
    const results = await Promise.allSettled(answers);
    const writes = issued.filter((_, index) => {
      const result = results[index] as PromiseSettledResult<unknown>;
      return result.status === 'fulfilled' || !this.#isFull(result.reason);
    });
    const path = this.#newPath();
    copyFileSync(this.#path, path);
    copyFileSync(`${this.#path}-wal`, `${path}-wal`);
    const { size: length } = statSync(`${path}-wal`);
    truncateSync(`${path}-wal`, lengthThen + Math.floor((length - lengthThen) * share));
    await this.store.close();
    this.#path = path;
    this.store = this.#storeAt(path);
    await this.store.open();
    const content = await this.content();
    const acknowledgedCount = lastThen === undefined ? 0 : writes.indexOf(lastThen) + 1;
    this.trail.push(
      `    acknowledged ${acknowledgedCount} of ${writes.length}, log of ${lengthThen} to ${length}`,
    );
    for (const [index, write] of writes.entries()) {
      if (index >= acknowledgedCount && isDeepStrictEqual(content, this.referenceContent())) break;
      this.#answerOf(write);
    }
    await this.look();
  }

  #storeAt(path: string): SqliteStore {
    const { clock } = this;
    return new SqliteStore({
      path,
      clock,
      workerUrl: null,
      durability: 'process',
      freeBytesMin: 0,
      pageCountMax: this.#pageCountMax,
    });
  }

  #newPath(): string {
    this.#fileCount += 1;
    return join(this.#folder, `${this.#fileCount}.db`);
  }
}

/** Most are, and `expect` takes long to say so. */
export function expectSame(actual: unknown, expected: unknown, what: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what()).toEqual(expected);
}

export async function everyItem<T>(read: (query: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: ALL, cursor });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}

export const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
export const rarely = fc.integer({ min: 0, max: 11 }).map((n) => n === 7);

/** @param clockSteps by which the clock is set, ms */
function storeAct<Draft>(
  draft: fc.Arbitrary<Draft>,
  walk: fc.Arbitrary<Walk>,
  clockSteps: readonly number[],
): fc.Arbitrary<StoreAct<Draft>> {
  const drafts = fc.array(draft, { minLength: 1, maxLength: 5 });
  return fc.oneof(
    { weight: 12, arbitrary: fc.record({ do: fc.constant('write' as const), drafts }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('clock' as const), byMs: fc.constantFrom(...clockSteps) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('walk' as const), walk }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('turn' as const),
        nth: fc.nat(3),
        limit: fc.constantFrom(1, 2, 5, ALL),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('retain' as const),
        agoMs: fc.constantFrom(-100_000, 0, 1, 1_000, 40_000, 100_000),
        bytesMax: fc.constantFrom(null, null, null, 0, 350_000, 1_000_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('die' as const),
        drafts,
        turns: fc.nat(4),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    },
  );
}

/** For the test that runs. */
export async function expectPlainLists<Draft>(
  Run: new (folder: string, pageCountMax: number | null) => StoreRun<Draft>,
  ...of: Parameters<typeof storeAct<Draft>>
): Promise<void> {
  const folder = temporaryFolder();
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.integer({ min: 90, max: 160 }), { freq: 2 }),
      fc.array(storeAct(...of), { maxLength: 60, size: 'max' }),
      async (pageCountMax, acts) => {
        const run = new Run(folder, pageCountMax);
        try {
          await run.begin();
          for (const one of acts) await run.apply(one);
          await run.finish();
        } catch (error) {
          (error as Error).message += `\n${run.trail.join('\n')}`;
          throw error;
        } finally {
          await run.end();
        }
      },
    ),
    modelRuns(5),
  );
}
