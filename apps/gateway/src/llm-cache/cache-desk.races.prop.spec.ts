/**
 * Equal and near calls of two tenants, operators and another gateway at once, on a backend, an embedder and upstreams whose answers come
 * when the scheduler says, or never. Whatever the order: nothing that was thrown out is given to who asks after that, nobody is given
 * another tenant's answer, and whoever waits for another goes on.
 */

import fc from 'fast-check';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import {
  type CacheControl,
  type CacheEntry,
  type CacheEpoch,
  type Cosine,
  type LlmCache,
  ObservatoryError,
  type OperatorPrincipal,
  type SemanticQuery,
} from '#contracts';
import { MemoryLlmCache } from '#domain/llm-cache';
import {
  buildLlmAnswer,
  checkRaces,
  countingIds,
  FakeClock,
  letAllCome,
  RACES_MS,
  RaceOfActors,
} from '#testing';
import { buildProxyCall } from '../llm-proxy/proxy-call.fixture.js';
import type { ProxyCall, Verdict } from '../llm-proxy/proxy-call.js';
import { CacheDesk, type CacheWish } from './cache-desk.js';
import { CacheFlights } from './cache-flights.js';
import { CacheFreshness } from './cache-freshness.js';
import { CacheKeeper } from './cache-keeper.js';
import { CacheTally } from './cache-tally.js';
import { SemanticMatches } from './semantic-matches.js';

const TENANTS = ['t', 'u'] as const;
type Tenant = (typeof TENANTS)[number];
const QUESTIONS = ['Where is order 12?', 'Where is my order 12?'] as const;

type Ending = 'whole' | 'failed' | 'left' | 'cut' | 'large';
interface CallAct {
  tenant: Tenant;
  question: number;
  control: Exclude<CacheControl, 'bypass'> | null;
  ending: Ending;
  isRetry: boolean;
  /** While it waits. */
  gate: 'open' | 'held' | 'hinted' | 'refused';
}
interface Acts {
  clients: CallAct[][];
  operators: ({ tenant: Tenant } & (
    | { do: 'invalidate'; isElsewhere: boolean }
    | { do: 'wrong'; nth: number }
  ))[][];
  leaving: { nth: number }[];
  isNear: boolean;
  /** Of the backend's commands, those that fail. */
  failing: number[];
  /** Of the embedder's, those that have no vector. */
  unembedded: number[];
  together: number[];
}

/** Commands of this gateway arrive in order. */
class FarCache implements LlmCache {
  readonly isDegraded = false;
  readonly waitMs = 20;
  readonly kind = 'redis';
  readonly #sent: (() => void)[] = [];
  #nth = 0;

  constructor(
    readonly race: Race,
    readonly near: MemoryLlmCache,
  ) {}

  get(tenantId: string, key: string) {
    return this.#send('get', () => this.near.getNow(tenantId, key), null);
  }
  semanticSearch(query: SemanticQuery) {
    return this.#send('search', () => this.near.semanticSearchNow(query), null);
  }
  epoch(tenantId: string) {
    return this.#send('epoch', () => this.near.epochNow(tenantId), null);
  }
  put(entry: CacheEntry, epoch?: CacheEpoch) {
    return this.#send(
      'put',
      () => this.near.put(entry, epoch),
      Promise.resolve('backend_away' as const),
    ).then((put) => put);
  }
  async invalidate(tenantId: string, pattern: string | null, preview?: boolean) {
    const count = await this.#send(
      'invalidate',
      () => this.near.invalidate(tenantId, pattern, preview),
      null,
    );
    if (count === null) throw new ObservatoryError('cache_unavailable');
    return count;
  }
  async evict(tenantId: string, key: string) {
    const isGone = await this.#send('evict', () => this.near.evict(tenantId, key), null);
    if (isGone === null) throw new ObservatoryError('cache_unavailable');
    return isGone;
  }
  stats = () => expect.unreachable();
  entries = () => expect.unreachable();
  close = async () => {};

  /** One that fails may have been heard. */
  async #send<Reply, Otherwise>(
    what: string,
    apply: () => Reply,
    otherwise: Otherwise,
  ): Promise<Reply | Otherwise> {
    this.#nth += 1;
    const isFailing = this.race.acts.failing.includes(this.#nth);
    const isHeard = !isFailing || this.#nth % 2 === 0;
    const replied = new Promise<Reply | Otherwise>((resolve) => {
      this.#sent.push(() => {
        const reply = isHeard ? apply() : otherwise;
        this.race.note(`${what} arrives${isFailing ? ', and fails' : ''}`);
        void this.race.port(`answer to ${what}`).then(() => resolve(isFailing ? otherwise : reply));
      });
    });
    void this.race.port(what).then(() => this.#sent.shift()?.());
    return replied;
  }
}

/** What brought an answer, or was given one. */
interface Asked {
  call: ProxyCall;
  act: CallAct;
  /** Under which its answer is found again. */
  key: string;
  begin: number;
  /** When it was last let go on. */
  from: number;
  /** To the upstream. */
  sent: number;
  end: number;
  outcome: 'replay' | 'upstream' | 'refused' | 'gone' | null;
  /** Which it was given, or brought. */
  text: string | null;
}

interface Thrown {
  tenant: Tenant;
  /** Null: all. */
  key: string | null;
  /** Of the question that it is no answer to; it may be the very same, whose answer came too late to be found by its key. */
  askedKey: string | null;
  begin: number;
  end: number;
}

class Race extends RaceOfActors {
  readonly clock = new FakeClock();
  readonly asked: Asked[] = [];
  readonly thrown: Thrown[] = [];
  readonly near = new MemoryLlmCache({
    clock: this.clock,
    entriesMax: 100,
    bytesMax: 1e5,
    exactTtlMs: 1e6,
    semanticTtlMs: 1e6,
  });
  readonly cache: LlmCache;
  readonly flights = new CacheFlights(1e9);
  readonly freshness = new CacheFreshness();
  readonly tally = new CacheTally(this.clock, new Registry());
  readonly matches: SemanticMatches;
  readonly desk: CacheDesk;
  #ticks = 0;
  #embeddings = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    this.cache = acts.isNear ? this.near : new FarCache(this, this.near);
    const { clock, tally, cache, freshness, flights } = this;
    const embedder = {
      model: { model_id: 'm', hitWhenCosineAtLeast: 0.9 as Cosine },
      describe: async () => null,
      embed: async (_text: string) => {
        this.#embeddings += 1;
        const nth = this.#embeddings;
        await this.port('embedding');
        return acts.unembedded.includes(nth) ? null : { model_id: 'm', values: new Float32Array([1, 0]) };
      },
      close: async () => {},
    };
    const gate = () => null;
    const onFailed = (error: unknown) => void this.failures.push(error);
    this.matches = new SemanticMatches({
      clock,
      ids: countingIds(),
      tally,
      embedder,
      gate,
      cache,
      redact: (text) => text,
    });
    const { matches } = this;
    this.desk = new CacheDesk({
      cache,
      mode: 'on',
      hitWhenCosineAtLeast: null,
      embedder,
      gate,
      flights,
      freshness,
      tally,
      matches,
      keeper: new CacheKeeper({ cache, freshness, tally, matches, clock, onFailed }),
      onFailed,
      clock,
    });
  }

  override note(what: string): void {
    this.trail.push(`${this.tick()} ${what}`);
  }

  tick(): number {
    this.#ticks += 1;
    return this.#ticks;
  }

  async run(): Promise<void> {
    const { acts } = this;
    for (const [nth, calls] of acts.clients.entries())
      void this.actor(`client ${nth}`, calls, (act) => this.#call(act));
    for (const [nth, ones] of acts.operators.entries())
      void this.actor(`operator ${nth}`, ones, (act) => this.#operate(act));
    void this.actor('leaving', acts.leaving, ({ nth }) => {
      const waiting = this.asked.filter(({ outcome }) => outcome === null);
      waiting[nth]?.call.leave();
    });
    await this.idle();
    for (const failure of this.failures) throw failure;
    expect(this.busyCount, 'somebody waits for ever').toBe(0);
    expect([this.flights.count, this.freshness.count]).toEqual([0, 0]);
  }

  async idle(): Promise<void> {
    await letAllCome(this.scheduler, this.acts.together);
  }

  async #operate(act: Acts['operators'][number][number]): Promise<void> {
    const { tenant } = act;
    const thrown: Thrown = {
      tenant,
      key: null,
      askedKey: null,
      begin: this.tick(),
      end: Number.POSITIVE_INFINITY,
    };
    const by = { tenant_id: tenant, operator_id: 'ada' } as OperatorPrincipal;
    if (act.do === 'invalidate') {
      if (act.isElsewhere) await this.port('invalidation elsewhere');
      const done = await (act.isElsewhere ? this.near : this.cache)
        .invalidate(tenant, null)
        .catch(() => null);
      if (done === null) return;
      if (!act.isElsewhere) this.desk.noteThrownOut();
    } else {
      const match = this.matches.list(tenant, { limit: 10, behind: null } as never).items[act.nth];
      if (match === undefined) return;
      thrown.key = match.key;
      thrown.askedKey = this.asked.find(({ call }) => call.id === match.call_id)?.key ?? '';
      const judged = await this.matches
        .judge(by, match.match_id, 'wrong', async (_, does) => {
          await this.port('audit');
          await does?.();
        })
        .catch(() => null);
      if (judged === null) return;
      this.desk.noteThrownOut();
    }
    thrown.end = this.tick();
    this.thrown.push(thrown);
    this.note(`${act.do} is done`);
  }

  async #call(act: CallAct): Promise<void> {
    const { tenant, question, control, isRetry } = act;
    const body = { model: 'm', temperature: 0, messages: [{ role: 'user', content: QUESTIONS[question] }] };
    const call = buildProxyCall({ id: `${tenant}-${this.asked.length}`, tenantId: tenant, body });
    call.isRetry = isRetry;
    const begin = this.tick();
    const asked: Asked = {
      call,
      act,
      key: '',
      begin,
      from: begin,
      sent: 0,
      end: Number.POSITIVE_INFINITY,
      outcome: null,
      text: null,
    };
    this.asked.push(asked);
    const passAgain: CacheWish['passAgain'] = async (_, landed) => {
      await landed;
      if (call.isGone || act.gate === 'open') return undefined;
      if (act.gate === 'held' && call.heldMs > 0) return undefined;
      await this.port(`gate of ${call.id}`);
      asked.from = this.tick();
      this.note(`${call.id} is let go on`);
      if (act.gate === 'held') call.heldMs += 1;
      if (act.gate === 'hinted' && call.injections.length === 0) call.injections = ['Look again.'];
      if (act.gate !== 'refused') return undefined;
      return { kind: 'refuse', decision: 'refused', code: 'internal_error' } as Verdict;
    };
    const answer = this.desk.answer(call, { policy: 'on', control, passAgain });
    asked.key = call.cacheTicket?.key ?? '';
    const verdict = answer instanceof Promise ? await answer : answer;
    if (verdict?.kind === 'replay') {
      Object.assign(call, { status: 200, decision: 'cached' });
      asked.text = call.answer?.text ?? null;
      asked.outcome = 'replay';
      this.note(`${call.id} is given ${asked.text}`);
    } else if (verdict !== undefined) {
      asked.outcome = 'refused';
      Object.assign(call, { status: 429, decision: 'refused' });
    } else if (!call.isGone) await this.#upstream(asked);
    if (call.isGone && asked.outcome === null) {
      asked.outcome = 'gone';
      Object.assign(call, { status: 499, decision: 'aborted' });
    }
    asked.end = this.tick();
    this.note(`${call.id} ends: ${asked.outcome}`);
    if (call.cacheTicket !== null) this.desk.settle(call, call.cacheTicket);
  }

  async #upstream(asked: Asked): Promise<void> {
    const { call, act } = asked;
    asked.sent = this.tick();
    this.note(`${call.id} goes to the upstream`);
    await this.port(`upstream of ${call.id}`);
    if (call.isGone) return;
    asked.outcome = 'upstream';
    if (act.ending === 'failed') {
      Object.assign(call, { status: 502, decision: 'upstream_failed' });
      return;
    }
    call.wasTakenUp = true;
    if (act.ending === 'left') {
      asked.outcome = null;
      call.leave();
      return;
    }
    asked.text = act.ending === 'large' ? `${call.id} ${'x'.repeat(1e5)}` : call.id;
    const answer = buildLlmAnswer({ text: asked.text, finish: act.ending === 'cut' ? 'length' : 'stop' });
    Object.assign(call, { status: 200, isAnswered: true, answer });
  }

  check(): void {
    for (const asked of this.asked) if (asked.outcome === 'replay') this.#checkReplay(asked);
    for (const tenant of TENANTS) {
      const ofIt = this.asked.filter(({ act }) => act.tenant === tenant);
      const { total_hits, total_misses, coalesced, exact_hits } = this.tally.counts(tenant);
      const given = ofIt.filter(({ outcome }) => outcome === 'replay');
      expect([tenant, total_hits]).toEqual([tenant, given.length]);
      expect(coalesced).toBeLessThanOrEqual(exact_hits);
      const missed = ofIt.filter(({ outcome }) => outcome !== 'replay');
      const surely = missed.filter(
        ({ outcome, call, act }) => outcome === 'upstream' && !call.isGone && act.gate !== 'hinted',
      );
      expect(total_misses).toBeLessThanOrEqual(missed.length);
      expect(total_misses).toBeGreaterThanOrEqual(surely.length);
    }
  }

  #checkReplay({ call, act, key: ownKey, from, begin, text }: Asked): void {
    const filler = this.asked.find((one) => one.outcome === 'upstream' && one.text === text);
    if (filler === undefined) throw new Error(`${call.id} was given what nobody brought: ${text}`);
    expect([call.id, act.tenant]).toEqual([call.id, filler.act.tenant]);
    const isSemantic = call.cache?.match === 'semantic';
    if (!isSemantic) expect([call.id, filler.act.question]).toEqual([call.id, act.question]);
    expect(act.control).not.toBe('refresh');
    expect(['whole', 'large']).toContain(filler.act.ending);
    // It carries words of ours.
    expect(filler.call.injections).toEqual([]);
    for (const { tenant, begin: thrownFrom, end, key, askedKey } of this.thrown) {
      if (tenant !== act.tenant || end >= from) continue;
      if (key === null && filler.sent < thrownFrom)
        expect([call.id, 'was given what was thrown out', text]).toEqual([]);
      if (key === filler.key && askedKey === ownKey && isSemantic && end < begin)
        expect([call.id, 'was given a wrong answer again', text]).toEqual([]);
    }
    // Nothing older than what a call that asked anew has left by then.
    for (const other of this.asked) {
      const isFresh =
        other.act.control === 'refresh' && other.outcome === 'upstream' && other.act.ending === 'whole';
      if (!isFresh || other.act.tenant !== act.tenant || other.act.question !== filler.act.question) continue;
      // Nothing that was asked for before any entry of its tenant was thrown out is kept.
      if (
        this.thrown.some(
          ({ tenant, begin: from, end }) => tenant === act.tenant && from < other.end && end > other.begin,
        )
      )
        continue;
      if (this.acts.isNear && other.end < begin && filler.end < other.begin)
        expect([call.id, 'was given what was renewed', text, other.text]).toEqual([]);
    }
  }
}

const tenant = fc.constantFrom<Tenant>('t', 't', 't', 't', 't', 'u');
const call: fc.Arbitrary<CallAct> = fc.record({
  tenant,
  question: fc.constantFrom(0, 0, 0, 1),
  control: fc.constantFrom(null, null, null, null, 'refresh' as const, 'only' as const),
  ending: fc.constantFrom<Ending>('whole', 'whole', 'whole', 'whole', 'failed', 'left', 'cut', 'large'),
  isRetry: fc.constantFrom(false, false, false, true),
  gate: fc.constantFrom<CallAct['gate']>('open', 'open', 'open', 'held', 'held', 'hinted', 'refused'),
});
const operation = fc.oneof(
  fc.record({ tenant, do: fc.constant('invalidate' as const), isElsewhere: fc.boolean() }),
  fc.record({ tenant, do: fc.constant('wrong' as const), nth: fc.nat({ max: 1 }) }),
);
const some = fc.oneof(fc.constant<number[]>([]), fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 4 }));
const acts: fc.Arbitrary<Acts> = fc.record({
  clients: fc.array(fc.array(call, { maxLength: 4, size: 'max' }), { maxLength: 4, size: 'max' }),
  operators: fc.array(fc.array(operation, { maxLength: 3 }), { maxLength: 2 }),
  leaving: fc.array(fc.record({ nth: fc.nat({ max: 2 }) }), { maxLength: 2 }),
  isNear: fc.boolean(),
  failing: some,
  unembedded: some,
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  "at once, in any order: what was thrown out is given to nobody, nor what is another tenant's, and nobody waits in vain",
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 200);
  },
  RACES_MS,
);
