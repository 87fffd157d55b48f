/**
 * Two gateways keep answers in one Redis, without a query engine: whichever of them an answer came by, both give it to the tenant
 * that it is of, in the context that it was asked in and for no longer than it may be, until it is thrown out at either, and
 * nothing that was asked for before that is given afterwards. What is listed and counted is what can be given.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRedis, type RedisConnection, RedisLlmCache } from '#adapters/redis';
import type { CacheEntry, CacheEpoch, CacheHit, Cosine } from '#contracts';
import { MINUTE_MS } from '#kernel';
import { everyPage, FakeClock } from '#testing';
import { buildCacheEntry, hex, vectorAt } from '../../../libs/testing/src/llm-cache.conformance.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';
import { comparing, MODEL_TIMEOUT_MS, runModel, times } from './run-model.js';

const SIDES = ['a', 'b'] as const;
type Side = (typeof SIDES)[number];
const TENANTS = ['ten', 'tens'] as const;
type Tenant = (typeof TENANTS)[number];
/** As they say what a context is: tenants have equal ones. */
const SCOPES = ['brief', 'long'] as const;
/** One after the other less like the first, all of them like it. */
const COSINES = [1, 0.99, 0.97, 0.95, 0.93] as const;
const THRESHOLD = 0.92 as Cosine;

const ENTRIES_MAX = 5;
const EXACT_TTL_MS = 10 * MINUTE_MS;
const SEMANTIC_TTL_MS = 40 * MINUTE_MS;

interface Question {
  tenant: Tenant;
  scope: (typeof SCOPES)[number];
  /** Which of the texts. */
  text: number;
}
const keyOf = ({ scope, text }: Question) => hex(`${scope} ${text}`);

interface Kept extends Question {
  key: string;
  words: string;
  agent: string;
  model: string;
  hasVector: boolean;
  createdMs: number;
  untilMs: number;
  hitCount: number;
  hitMs: number | null;
  usedMs: number;
}
interface Ticket {
  epoch: CacheEpoch;
  count: number;
}
class Shelf {
  kept = new Map<string, Kept>();
  /** How often some of it was thrown out. */
  epochCount = 0;
  tickets: Ticket[] = [];
}

class Model {
  readonly shelves: Record<Tenant, Shelf> = { ten: new Shelf(), tens: new Shelf() };
  #serial = 0;

  constructor(readonly clock: FakeClock) {}

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  alive(tenant: Tenant): Kept[] {
    return [...this.shelves[tenant].kept.values()].filter(({ untilMs }) => untilMs > this.clock.nowMs());
  }

  keep(one: Kept): void {
    const { kept } = this.shelves[one.tenant];
    for (const { key } of [...kept.values()])
      if (!this.alive(one.tenant).some((alive) => alive.key === key)) kept.delete(key);
    kept.delete(one.key);
    kept.set(one.key, one);
    while (kept.size > ENTRIES_MAX) {
      const others = [...kept.values()].filter(({ key }) => key !== one.key);
      kept.delete(others.reduce((oldest, other) => (other.usedMs < oldest.usedMs ? other : oldest)).key);
    }
  }

  use(one: Kept): void {
    one.hitCount += 1;
    one.hitMs = one.usedMs = this.clock.nowMs();
  }

  throwOut(tenant: Tenant, matches: (one: Kept) => boolean): number {
    const gone = this.alive(tenant).filter(matches);
    const shelf = this.shelves[tenant];
    shelf.epochCount += 1;
    for (const { key } of gone) shelf.kept.delete(key);
    return gone.length;
  }
}

class Real {
  readonly caches: Record<Side, RedisLlmCache>;

  constructor(
    readonly clock: FakeClock,
    run: number,
  ) {
    const open = (side: Side) =>
      new RedisLlmCache({
        connection: connections[side],
        clock,
        redisClock: clock,
        entriesMax: ENTRIES_MAX,
        bytesMax: 2 ** 24,
        exactTtlMs: EXACT_TTL_MS,
        semanticTtlMs: SEMANTIC_TTL_MS,
        keyPrefix: `run-${run}`,
        waitMs: 5_000,
        closesConnection: false,
      });
    this.caches = { a: open('a'), b: open('b') };
  }
}

async function compare(model: Model, { caches }: Real): Promise<void> {
  // What each counts as used, it does behind the answer.
  for (const side of SIDES) await caches[side].stats('ten');
  for (const side of SIDES)
    for (const tenant of TENANTS) {
      const alive = model.alive(tenant);
      expect((await caches[side].stats(tenant)).total_entries).toBe(alive.length);
      const entries = await everyPage((query) => caches[side].entries({ tenant_id: tenant, ...query }));
      expect(
        entries.map(({ key, agent_id, hit_count, last_hit_at_ms, has_vector, created_at_ms }) => ({
          key,
          agent_id,
          hit_count,
          last_hit_at_ms,
          has_vector,
          created_at_ms,
        })),
      ).toEqual(
        alive
          .toSorted((one, two) => two.hitCount - one.hitCount || (one.key < two.key ? 1 : -1))
          .map(({ key, agent, hitCount, hitMs, hasVector, createdMs }) => ({
            key,
            agent_id: agent,
            hit_count: hitCount,
            last_hit_at_ms: hitMs,
            has_vector: hasVector,
            created_at_ms: createdMs,
          })),
      );
    }
  // No two things happen in the same millisecond.
  model.clock.advance(1);
}

const act = comparing(compare);
const side = fc.constantFrom(...SIDES);
const tenant = fc.constantFrom(...TENANTS);
const question: fc.Arbitrary<Question> = fc.record({
  tenant: fc.constantFrom(...TENANTS, TENANTS[0]),
  scope: fc.constantFrom(...SCOPES, SCOPES[0]),
  text: fc.nat({ max: COSINES.length - 1 }),
});
interface Bringing extends Question {
  side: Side;
  agent: string;
  model: string;
  hasVector: boolean;
  ageMs: number;
  /** Of those that were given; null: none is. */
  ticket: number | null;
}
const bringing: fc.Arbitrary<Bringing> = fc
  .record({
    side,
    question,
    agent: fc.constantFrom('one', 'both'),
    model: fc.constantFrom('m1', 'm2'),
    hasVector: fc.constantFrom(true, true, true, false),
    ageMs: fc.constantFrom(0, 0, 0, 3 * MINUTE_MS, EXACT_TTL_MS),
    ticket: fc.option(fc.nat({ max: 3 })),
  })
  .map(({ question, ...rest }) => ({ ...rest, ...question }));

/** A new answer to it. */
function bring(model: Model, given: Bringing): { entry: CacheEntry; kept: Kept } {
  const { tenant, scope, text, agent, hasVector, ageMs } = given;
  const nowMs = model.clock.nowMs();
  const words = `answer ${model.next()}`;
  const createdMs = nowMs - ageMs;
  const answer = { ...buildCacheEntry(nowMs).answer, text: words, model: given.model };
  const entry = buildCacheEntry(createdMs, {
    tenant_id: tenant,
    key: keyOf(given),
    scope: hex(scope),
    agent_id: agent,
    prompt: `text ${text}`,
    vector: hasVector ? vectorAt(COSINES[text] as number) : null,
    answer,
  });
  const untilMs = createdMs + (hasVector ? SEMANTIC_TTL_MS : EXACT_TTL_MS);
  const uses = { hitCount: 0, hitMs: null, usedMs: nowMs };
  return { entry, kept: { ...given, key: entry.key, words, createdMs, untilMs, ...uses } };
}

const ticketOf = (model: Readonly<Model>, { tenant, ticket }: Bringing): Ticket | undefined => {
  const { tickets } = model.shelves[tenant];
  return ticket === null ? undefined : tickets.at(-1 - (ticket % Math.max(1, tickets.length)));
};

const said = (hit: CacheHit | null) => hit && { words: hit.entry.answer.text, ageMs: hit.age_ms };
const PATTERNS = {
  all: { pattern: null, matches: () => true },
  one: { pattern: 'agent:one', matches: ({ agent }: Kept) => agent === 'one' },
  both: { pattern: 'agent:bo?h', matches: ({ agent }: Kept) => agent === 'both' },
  m1: { pattern: 'model:m1', matches: ({ model }: Kept) => model === 'm1' },
  none: { pattern: 'upstream:other', matches: () => false },
} satisfies Record<string, { pattern: string | null; matches: (one: Kept) => boolean }>;

const kinds = [
  ...times(
    6,
    act('put', bringing, async (model: Model, real: Real, given) => {
      const ticket = ticketOf(model, given);
      const { entry, kept } = bring(model, given);
      const isOver = ticket !== undefined && ticket.count !== model.shelves[given.tenant].epochCount;
      const isOld = kept.untilMs <= model.clock.nowMs();
      const outcome = await real.caches[given.side].put(entry, ticket?.epoch);
      if (!isOld) expect(outcome).toBe(isOver ? 'outdated' : 'kept');
      if (!isOld && !isOver) model.keep(kept);
    }),
  ),
  ...times(
    4,
    act('get', fc.record({ side, question }), async (model, real, { side, question }) => {
      const one = model.alive(question.tenant).find(({ key }) => key === keyOf(question));
      const ageMs = model.clock.nowMs() - (one?.createdMs ?? 0);
      const isYoung = one !== undefined && ageMs < EXACT_TTL_MS;
      const hit = await real.caches[side].get(question.tenant, keyOf(question));
      expect(said(hit)).toEqual(isYoung ? { words: one.words, ageMs: expect.closeTo(ageMs, -4) } : null);
      if (isYoung) model.use(one);
    }),
  ),
  ...times(
    5,
    act(
      'search',
      fc.record({
        side,
        question,
        refused: fc.subarray([...COSINES.keys()], { maxLength: 2 }),
        serves: fc.boolean(),
      }),
      async (model, real, { side, question: { tenant, scope }, refused, serves }) => {
        const near = model
          .alive(tenant)
          .filter((one) => one.scope === scope && one.hasVector && !refused.includes(one.text))
          .sort((one, two) => one.text - two.text)[0];
        const hit = await real.caches[side].semanticSearch({
          tenant_id: tenant,
          scope: hex(scope),
          vector: vectorAt(1),
          hitWhenCosineAtLeast: THRESHOLD,
          accept: ({ prompt }) => !refused.some((text) => prompt === `text ${text}`),
          serves,
        });
        expect(hit && [hit.entry.answer.text, hit.cosine]).toEqual(
          near === undefined ? null : [near.words, expect.closeTo(COSINES[near.text] as number, 5)],
        );
        if (serves && near !== undefined) model.use(near);
      },
    ),
  ),
  ...times(
    3,
    act('is asked for', fc.record({ side, tenant }), async (model, real, { side, tenant }) => {
      const shelf = model.shelves[tenant];
      const epoch = (await real.caches[side].epoch(tenant)) as CacheEpoch;
      shelf.tickets.push({ epoch, count: shelf.epochCount });
    }),
  ),
  act(
    'throw out',
    fc.record({
      side,
      tenant,
      which: fc.constantFrom(...(Object.keys(PATTERNS) as (keyof typeof PATTERNS)[])),
      preview: fc.boolean(),
    }),
    async (model, real, { side, tenant, which, preview }) => {
      const { pattern, matches } = PATTERNS[which];
      const count = await real.caches[side].invalidate(tenant, pattern, preview);
      expect(count).toBe(
        preview ? model.alive(tenant).filter(matches).length : model.throwOut(tenant, matches),
      );
    },
  ),
  act('evict', fc.record({ side, question }), async (model, real, { side, question }) => {
    const { tenant } = question;
    const wasThere = await real.caches[side].evict(tenant, keyOf(question));
    expect(wasThere).toBe(model.throwOut(tenant, ({ key }) => key === keyOf(question)) === 1);
  }),
  // Which of the two was the last, nobody knows; but it is one for both.
  act('both put', bringing, async (model, real, given) => {
    const both = SIDES.map((side) => ({ side, ...bring(model, { ...given, ageMs: 0 }) }));
    await Promise.all(both.map(({ side, entry }) => real.caches[side].put(entry)));
    const hits = await Promise.all(SIDES.map((side) => real.caches[side].get(given.tenant, keyOf(given))));
    const [words, othersWords] = hits.map((hit) => hit?.entry.answer.text);
    expect(words).toBe(othersWords);
    const last = both.find(({ kept }) => kept.words === words);
    expect(last).toBeDefined();
    if (last === undefined) return;
    model.keep(last.kept);
    for (const _ of hits) model.use(last.kept);
  }),
  // What was asked for before all was thrown out comes at the same time.
  act(
    'throw out while answers come',
    fc.record({ side, tenant, all: fc.array(bringing, { minLength: 1, maxLength: 4 }) }),
    async (model, real, { side, tenant, all }) => {
      const epoch = (await real.caches[side].epoch(tenant)) as CacheEpoch;
      const put = (given: Bringing) =>
        real.caches[given.side].put(bring(model, { ...given, tenant, ageMs: 0 }).entry, epoch);
      await Promise.all([...all.map(put), real.caches[side].invalidate(tenant, null)]);
      model.throwOut(tenant, () => true);
    },
  ),
  ...times(
    2,
    act('wait', fc.constantFrom(1_000, 4 * MINUTE_MS, EXACT_TTL_MS, 25 * MINUTE_MS), (model, _real, ms) => {
      model.clock.advance(ms);
    }),
  ),
];

let redis: RedisServer;
const connections = {} as Record<Side, RedisConnection>;
let run = 0;

describe.skipIf(redisMissing !== null)('two gateways on one Redis', () => {
  beforeAll(async () => {
    redis = await startRedis();
    for (const side of SIDES) {
      connections[side] = connectRedis(redis.socketPath, { onError: (failure) => console.error(failure) });
      await connections[side].open();
    }
  });
  afterAll(async () => {
    await Promise.all(SIDES.map((side) => connections[side]?.quit()));
    await redis?.stop();
  });

  test(
    'an answer that came by either is given by both, to whom it may be given',
    { timeout: MODEL_TIMEOUT_MS },
    () =>
      runModel<Model, Real>(
        kinds,
        20,
        async () => {
          run += 1;
          const clock = new FakeClock();
          return { model: new Model(clock), real: new Real(clock, run) };
        },
        // A gateway keeps nothing of its own.
        async (model, real) => compare(model, Object.assign(real, new Real(real.clock, run))),
      ),
  );
});
