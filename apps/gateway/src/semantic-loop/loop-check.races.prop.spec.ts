/**
 * Calls of one agent at once, and the sidecar; what they wait for comes in any order. Whatever the order: the loop of one request is new
 * once, who asks again behind an answer is found, and nobody waits for ever.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type LoopAnswer, type LoopQuery, SidecarFailure, sessionKey } from '#contracts';
import { buildLoopAnswer, checkRaces, FakeTime, letAllCome, RACES_MS } from '#testing';
import { type AskedEnding, LoopCheck } from './loop-check.js';

const KEY = sessionKey('default', 's1');
/** Those that begin alike mean the same. */
const PROMPTS = ['Q: where is it?', 'Q: where has it got to?', 'R: how old is it?'] as const;
const isSimilar = (one: string, other: string) => one[0] === other[0];

interface Act {
  prompt: (typeof PROMPTS)[number];
  ending: AskedEnding;
  /** `late`: it has compared the prompt, and nobody waits for that any more. */
  sidecar: 'answers' | 'late' | 'away';
  leaves: boolean;
}

interface Acts {
  /** By client, one after another. */
  clients: Act[][];
  together: number[];
}

interface Sent extends Act {
  id: string;
  begin: number;
  end: number;
  found: 'new' | 'known' | 'clear' | 'failed_open' | null;
}

class Race {
  readonly trail: string[] = [];
  readonly #sent: Sent[] = [];
  readonly #check: LoopCheck;
  /** By request. */
  readonly #history = new Map<string, string>();
  /** It takes them in the order in which they came. */
  readonly #lane: (() => void)[] = [];
  readonly #recorded = new Set<string>();
  #ticks = 0;
  #asking: Sent | null = null;

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {
    this.#check = new LoopCheck({
      service: { isReady: true, checkLoop: (query) => this.#compare(query, this.#asking as Sent) },
      timeoutMs: 50,
      loopWhenSimilarityAbove: null,
      clock: new FakeTime(),
      events: { checked() {}, failedOpen() {} },
    });
  }

  async run(): Promise<void> {
    let isOver = false;
    const clients = this.acts.clients.map((acts, client) => this.#client(acts, client));
    void Promise.all(clients).then(() => {
      isOver = true;
    });
    await letAllCome(this.scheduler, this.acts.together);
    expect(isOver).toBe(true);
    await Promise.all(clients);
  }

  check(): void {
    for (const call of this.#sent) {
      this.#mustCountOnce(call);
      this.#mustBeFound(call);
    }
  }

  /** Of two loops in the same words, the later is new only behind an answer. */
  #mustCountOnce(call: Sent): void {
    if (call.found !== 'new') return;
    const same = this.#sent.filter(({ prompt }) => prompt === call.prompt);
    for (const before of same) {
      if (before === call || before.found !== 'new' || before.begin > call.begin) continue;
      const answer = same.find(
        ({ ending, end }) => ending !== 'unanswered' && end > before.begin && end < call.begin,
      );
      expect([before.id, call.id, 'are one request', answer === undefined]).toEqual([
        before.id,
        call.id,
        'are one request',
        false,
      ]);
    }
  }

  #mustBeFound(call: Sent): void {
    if (call.found !== 'clear' || call.leaves) return;
    const before = this.#sent.find(
      ({ id, prompt, ending, end }) =>
        isSimilar(prompt, call.prompt) &&
        ending !== 'unanswered' &&
        end < call.begin &&
        this.#recorded.has(id),
    );
    expect([call.id, 'asks again what', before?.id]).toEqual([call.id, 'asks again what', undefined]);
  }

  #port(what: string): Promise<void> {
    return this.scheduler.schedule(Promise.resolve(), what);
  }

  #tick(): number {
    this.#ticks += 1;
    return this.#ticks;
  }

  async #compare({ request_id, prompt }: LoopQuery, { id, sidecar }: Sent): Promise<LoopAnswer> {
    const away = new SidecarFailure('timeout', 'too late');
    if (sidecar === 'away') {
      await this.#port(`${id} waits in vain`);
      throw away;
    }
    const answer = new Promise<LoopAnswer>((resolve) => {
      this.#lane.push(() => {
        this.trail.push(`${id} is compared as ${request_id}`);
        const similar = [...this.#history].filter(
          ([other, earlier]) => other !== request_id && isSimilar(earlier, prompt),
        );
        this.#history.set(request_id, prompt);
        this.#recorded.add(id);
        const [first, ...further] = similar.map(([other, earlier]) => ({
          request_id: other,
          prompt: earlier,
        }));
        resolve(
          buildLoopAnswer({
            loop_detected: first !== undefined,
            similar_prompt: first?.prompt ?? '',
            similar_request_id: first?.request_id ?? '',
            further,
          }),
        );
      });
      void this.#port(`${id} is compared`).then(() => this.#lane.shift()?.());
    });
    await this.#port(`${id} waits`);
    if (sidecar === 'late') throw away;
    return answer;
  }

  async #client(acts: Act[], client: number): Promise<void> {
    for (const [nth, act] of acts.entries()) {
      await this.#port(`client ${client}`);
      const sent: Sent = { ...act, id: `${client}.${nth}`, begin: this.#tick(), end: Infinity, found: null };
      this.#sent.push(sent);
      this.trail.push(`${sent.id} asks ${act.prompt}`);
      await this.#ask(sent);
      await this.#port(`upstream of ${sent.id}`);
      const asked = { sessionKey: KEY, agentId: 'a', callId: sent.id, prompt: act.prompt };
      sent.ending = act.leaves ? 'unanswered' : act.ending;
      sent.end = this.#tick();
      this.#check.noteEnded(asked, sent.ending);
      this.trail.push(`${sent.id} is ${sent.ending}`);
    }
  }

  async #ask(sent: Sent): Promise<void> {
    this.#asking = sent;
    const verdict = await this.#check.ask({
      tenantId: 'default',
      sessionId: 's1',
      sessionKey: KEY,
      agentId: 'a',
      callId: sent.id,
      prompt: sent.prompt,
      isRetry: false,
      task: 't',
      counts: () => true,
      traceParent: null,
      gone: sent.leaves ? this.#port(`${sent.id} leaves`) : new Promise(() => {}),
    });
    sent.found = verdict.kind === 'loop' ? (verdict.isNew ? 'new' : 'known') : verdict.kind;
    this.trail.push(`${sent.id} is ${sent.found}`);
  }
}

const act: fc.Arbitrary<Act> = fc.record({
  prompt: fc.constantFrom(...PROMPTS, PROMPTS[0]),
  ending: fc.constantFrom('answered' as const, 'answered' as const, 'unanswered' as const, 'left' as const),
  sidecar: fc.constantFrom(
    'answers' as const,
    'answers' as const,
    'answers' as const,
    'late' as const,
    'away' as const,
  ),
  leaves: fc.constantFrom(false, false, false, true),
});
const acts: fc.Arbitrary<Acts> = fc.record({
  clients: fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'at once, in any order: a loop is new once, who asks again is found, and nobody waits for ever',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 300);
  },
  RACES_MS,
);
