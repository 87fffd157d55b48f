/**
 * Checks of a few sessions at once, over a model and a store that are slow or fail, in any order in which these answer. Whatever the order:
 * the answers are as if the checks of one session had come one after another, none waits for ever, and nothing is counted any more.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Cosine,
  type Embedder,
  EmbeddingFailure,
  type LoopAnswer,
  type LoopSimilarity,
  type PromptEntry,
  type PromptHistory,
  PromptHistoryFailure,
  type PromptMatch,
  type PromptScope,
} from '#contracts/embedding';
import { checkRaces, countingIds, FakeTime, letAllCome, RACES_MS, RaceOfActors } from '#testing';
import { CheckLoop } from './check-loop.js';

const TENANTS = ['one', 'two'] as const;
const CHECKS_MAX = 8;
const TIME_MS = 50;

interface Act {
  tenant: (typeof TENANTS)[number];
  session: 's' | 't';
  /** Those that begin alike mean the same; nobody knows what `unfit` means. */
  prompt: 'a' | 'b' | 'unfit';
  /** Sent again under the id of the client's last one. */
  isAgain: boolean;
  isHurried: boolean;
}

interface Acts {
  clients: Act[][];
  clock: { ms: number }[];
  /** Of the texts, reads and writes, those that fail. */
  failing: { texts: readonly number[]; reads: readonly number[]; writes: readonly number[] };
  together: number[];
}

interface Check extends Act {
  nth: number;
  requestId: string;
  startedMs: number;
  outcome: LoopAnswer | 'failed' | null;
  isRecorded: boolean;
}

const meaningOf = (prompt: string): string => prompt[0] as string;
const scopeNameOf = ({ tenant, session }: Act): string => `${tenant} ${JSON.stringify([session, 'a'])}`;

class Race extends RaceOfActors {
  readonly time = new FakeTime();
  /** In the order in which they came. */
  readonly #checks: Check[] = [];
  readonly #stored = new Map<string, PromptEntry[]>();
  readonly #loop: CheckLoop;
  #counts = { texts: 0, reads: 0, writes: 0 };
  #recordFailureCount = 0;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    this.#loop = new CheckLoop({
      embedder: { description: { model_id: 'm' }, embed: (text: string) => this.#embed(text) } as Embedder,
      history: {
        similar: (scope, vector, requestId) => this.#similar(scope, vector, requestId),
        record: (scope, entry) => this.#record(scope, entry),
      } as PromptHistory,
      vetoOf: () => null,
      clock: this.time,
      ids: countingIds(),
      observer: {
        embedded() {},
        queued() {},
        searched() {},
        recorded() {},
        recordFailed: (error) => {
          if (error instanceof PromptHistoryFailure) this.#recordFailureCount += 1;
          else this.failures.push(error);
        },
      },
      loopWhenSimilarityAbove: 0.9 as LoopSimilarity,
      checksMax: CHECKS_MAX,
      elapsedMs: () => this.time.steadyMs(),
    });
  }

  async #part(kind: keyof Acts['failing'], what: string): Promise<void> {
    this.#counts[kind] += 1;
    const isFailing = !this.isFree && this.acts.failing[kind].includes(this.#counts[kind]);
    await this.port(what);
    if (!isFailing) return;
    throw kind === 'texts' ? new EmbeddingFailure('failed', 'no') : new PromptHistoryFailure('failed', 'no');
  }

  #checkOf(vector: Float32Array): Check {
    return this.#checks[vector[0] as number] as Check;
  }

  async #embed(
    text: string,
  ): Promise<{ fitness: 'fit'; vector: Float32Array } | { fitness: 'empty'; vector: null }> {
    await this.#part('texts', `vector of ${text}`);
    if (text.startsWith('unfit')) return { fitness: 'empty', vector: null };
    return { fitness: 'fit', vector: Float32Array.from([Number(text.split(' ')[1])]) };
  }

  async #similar(scope: PromptScope, vector: Float32Array, requestId: string): Promise<PromptMatch[]> {
    const check = this.#checkOf(vector);
    if (check.isHurried) expect(this.time.steadyMs() - check.startedMs).toBeLessThan(TIME_MS);
    await this.#part('reads', `look for ${check.nth}`);
    const stored = this.#stored.get(`${scope.tenant_id} ${scope.session_id}`) ?? [];
    const matches = stored
      .filter((entry) => entry.request_id !== requestId)
      .map(({ request_id, prompt, at_ms }) => {
        const cosine = (meaningOf(prompt) === meaningOf(check.prompt) ? 1 : 0) as Cosine;
        return { request_id, prompt, at_ms, cosine };
      })
      .sort((one, other) => other.cosine - one.cosine);
    await this.port(`found for ${check.nth}`);
    return matches;
  }

  async #record(scope: PromptScope, entry: PromptEntry): Promise<void> {
    const check = this.#checkOf(entry.vector);
    expect([entry.prompt, entry.request_id]).toEqual([`${check.prompt} ${check.nth}`, check.requestId]);
    expect([check.nth, check.outcome], 'remembered before it was answered').not.toEqual([check.nth, null]);
    expect(check.isRecorded).toBe(false);
    await this.#part('writes', `write ${check.nth}`);
    const name = `${scope.tenant_id} ${scope.session_id}`;
    const others = (this.#stored.get(name) ?? []).filter(({ request_id }) => request_id !== entry.request_id);
    this.#stored.set(name, [...others, entry]);
    check.isRecorded = true;
    await this.port(`written ${check.nth}`);
  }

  async run(): Promise<void> {
    for (const [client, acts] of this.acts.clients.entries()) {
      let lastId = `${client}`;
      void this.actor(`client ${client}`, acts, async (act) => {
        lastId = act.isAgain ? lastId : `${client}.${this.#checks.length}`;
        await this.#ask(act, lastId);
      });
    }
    void this.actor('clock', this.acts.clock, ({ ms }) => this.time.pass(ms));
    do await letAllCome(this.scheduler, this.acts.together);
    while (this.busyCount > 0);
  }

  async #ask(act: Act, requestId: string): Promise<void> {
    const nth = this.#checks.length;
    const startedMs = this.time.steadyMs();
    const check: Check = { ...act, nth, requestId, startedMs, outcome: null, isRecorded: false };
    this.#checks.push(check);
    const { tenant: tenant_id, session: session_id, prompt } = act;
    const query = {
      tenant_id,
      session_id,
      agent_id: 'a',
      request_id: requestId,
      prompt: `${prompt} ${nth}`,
      threshold: null,
    };
    const underWayCount = this.#loop.underWayCount;
    check.outcome = await this.#loop.run(query, act.isHurried ? TIME_MS : undefined).catch((error) => {
      if (error.reason === 'busy') expect(underWayCount).toBeGreaterThanOrEqual(CHECKS_MAX / 2);
      else if (error.reason === 'timeout')
        expect(this.time.steadyMs() - startedMs).toBeGreaterThanOrEqual(TIME_MS);
      else expect(error.reason).toBe('failed');
      return 'failed' as const;
    });
    this.note(`${nth} is told ${JSON.stringify(check.outcome)}`);
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    const earlier = new Map<string, Map<string, Check>>();
    for (const check of this.#checks) {
      const name = scopeNameOf(check);
      const remembered = earlier.get(name) ?? new Map<string, Check>();
      earlier.set(name, remembered);
      this.#mustBeInTurn(check, [...remembered.values()]);
      if (check.isRecorded) remembered.set(check.requestId, check);
    }
    const answered = this.#checks.filter(
      ({ outcome }) => typeof outcome === 'object' && outcome?.fitness === 'fit',
    );
    const recorded = this.#checks.filter(({ isRecorded }) => isRecorded);
    expect(recorded.length + this.#recordFailureCount).toBe(answered.length);
    expect(this.#loop.underWayCount).toBe(0);
    this.isFree = true;
    await this.#mustHaveRoom();
  }

  /** Compared with just those that were remembered of the session's checks before it. */
  #mustBeInTurn({ nth, outcome, requestId, prompt }: Check, remembered: Check[]): void {
    expect([nth, outcome]).not.toEqual([nth, null]);
    if (outcome === null || outcome === 'failed' || outcome.fitness !== 'fit') return;
    const others = remembered.filter((other) => other.requestId !== requestId);
    const similar = others.filter((other) => other.prompt === prompt);
    expect([nth, outcome.compared_count, outcome.loop_detected]).toEqual([
      nth,
      others.length,
      similar.length > 0,
    ]);
    if (similar.length === 0) return;
    const named = [outcome.similar_prompt, ...outcome.further.map((other) => other.prompt)];
    expect([nth, named.sort()]).toEqual([nth, similar.map((other) => `${other.prompt} ${other.nth}`).sort()]);
  }

  /** For as many as before it began. */
  async #mustHaveRoom(): Promise<void> {
    const acts = Array.from({ length: CHECKS_MAX }, (_, nth): Act => {
      return {
        tenant: TENANTS[nth % 2] as 'one',
        session: 's',
        prompt: 'a',
        isAgain: false,
        isHurried: false,
      };
    });
    const sent = acts.slice(0, CHECKS_MAX - 2).map((act, nth) => this.#ask(act, `late ${nth}`));
    await Promise.all(sent);
    expect(this.#checks.slice(2 - CHECKS_MAX).map(({ outcome }) => outcome)).not.toContain('failed');
  }
}

const some = fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 2 });
const acts: fc.Arbitrary<Acts> = fc.record({
  clients: fc.array(
    fc.array(
      fc.record<Act>({
        tenant: fc.constantFrom('one', 'one', 'two'),
        session: fc.constantFrom('s', 's', 't'),
        prompt: fc.constantFrom('a', 'a', 'a', 'b', 'unfit'),
        isAgain: fc.constantFrom(false, false, true),
        isHurried: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    { minLength: 1, maxLength: 6 },
  ),
  clock: fc.array(fc.record({ ms: fc.constantFrom(10, TIME_MS) }), { maxLength: 3 }),
  failing: fc.record({ texts: some, reads: some, writes: some }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'at once, in any order: answered as if one after another, nobody waits for ever, and all places are free again',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 200);
  },
  RACES_MS,
);
