/**
 * Callers, the sidecar's end of each stream, the link's owner and the clock at once, in any order. Whatever the order: every call is
 * told once, what came first; at most one stream is open, its owner knows whether it is ready, and nothing is left when it is closed.
 */
import { EventEmitter } from 'node:events';
import { type Client, Metadata } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { SidecarFailure, type SidecarFailureReason } from '#contracts/embedding';
import { checkRaces, FakeTime, letAllCome, RACES_MS, RaceOfActors, turn } from '#testing';
import { realTimers, timersBy } from '#testing/timers-by';
import type { RequestFrame } from './embedding-proto.js';
import { ExchangeLink } from './exchange-link.js';

const PENDING_MAX = 3;
const CHARS_MAX = 10;
const SILENCE_MS = 1_000;
/** Longer than any call waits, and any pause before a stream is opened again. */
const QUIET_MS = 2_000;

type Told = 'answered' | SidecarFailureReason;

interface Acts {
  callers: { ask: 'link' | 'beside'; chars: number; timeoutMs: number }[][];
  sidecar: { do: 'open' | 'be a stranger' | 'answer' | 'answer again' | 'break' | 'end'; nth: number }[];
  owner: ('reopen' | 'close')[];
  clock: { ms: number }[];
  /** Of the frames, those at which the stream breaks, or throws. */
  breaking: readonly number[];
  throwing: readonly number[];
  together: number[];
}

interface Call {
  name: string;
  chars: number;
  deadlineMs: number;
  /** What came first, and when; null: nothing before its time is up. */
  due: { told: Told; atMs: number } | null;
  told: Told | null;
}

function isDue(call: Call, told: Told): void {
  const atMs = performance.now();
  if (call.told === null && atMs <= call.deadlineMs) call.due ??= { told, atMs };
}

/** The transport's: after its end, or once it is cancelled, nothing but its status comes. */
class Stream extends EventEmitter {
  state: 'opening' | 'open' | 'strange' | 'over' = 'opening';
  readonly asked: { frame: RequestFrame; call: Call; isAnswered: boolean }[] = [];

  constructor(readonly race: Race) {
    super();
  }

  write(frame: RequestFrame): void {
    const { acts, asking } = this.race;
    this.race.frameCount += 1;
    if (acts.throwing.includes(this.race.frameCount)) {
      isDue(asking, 'error');
      throw new Error('write after end');
    }
    if (acts.breaking.includes(this.race.frameCount)) {
      isDue(asking, 'unavailable');
      this.over('error');
    } else this.asked.push({ frame, call: asking, isAnswered: false });
  }

  cancel(): void {
    if (this.state === 'over') return;
    if (this.state === 'open' && !this.race.isClosed) this.race.mustBeSilent();
    this.#lose();
    void this.race.port('status of the cancelled').then(() => {
      this.emit('error', new Error('cancelled'));
      this.emit('status', {});
    });
  }

  over(how: 'error' | 'end'): void {
    this.#lose();
    if (how === 'error') this.emit('error', new Error('broken'));
    else this.emit('end');
    this.emit('status', {});
  }

  #lose(): void {
    this.state = 'over';
    this.race.firstUnheardMs = null;
    for (const { call } of this.asked) isDue(call, 'unavailable');
  }
}

class Race extends RaceOfActors {
  readonly time = new FakeTime();
  readonly streams: Stream[] = [];
  readonly calls: Call[] = [];
  readonly #states: boolean[] = [];
  readonly #link: ExchangeLink;
  /** Who writes. */
  asking!: Call;
  frameCount = 0;
  isClosed = false;
  /** When the first question was sent that nothing has been heard since. */
  firstUnheardMs: number | null = null;
  readonly #beside = new Map<Call, () => void>();

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    timersBy(this.time);
    this.#link = new ExchangeLink({
      client: this.#client(),
      pendingMax: PENDING_MAX,
      pendingCharsMax: CHARS_MAX,
      onState: (isReady) => {
        this.#states.push(isReady);
        this.note(isReady ? 'ready' : 'not ready');
      },
    });
  }

  #client(): Client {
    return {
      makeBidiStreamRequest: () => {
        const stream = new Stream(this);
        this.streams.push(stream);
        return stream;
      },
    } as unknown as Client;
  }

  get #living(): Stream[] {
    return this.streams.filter(({ state }) => state !== 'over');
  }

  async run(): Promise<void> {
    const { acts } = this;
    for (const [nth, calls] of acts.callers.entries())
      void this.#acting(`caller ${nth}`, calls, ({ ask, chars, timeoutMs }) => {
        if (ask === 'link') void this.#ask(chars, timeoutMs);
        else void this.#askBeside(timeoutMs);
      });
    void this.#acting('sidecar', acts.sidecar, (act) => this.#sidecar(act));
    void this.#acting('owner', acts.owner, (act) => {
      if (act === 'reopen') this.#link.reopen(this.#client());
      else this.#close();
    });
    void this.#acting('clock', acts.clock, ({ ms }) => turn().then(() => this.time.pass(ms)));
    do await letAllCome(this.scheduler, acts.together);
    while (this.busyCount > 0);
  }

  #acting<Act>(name: string, acts: readonly Act[], act: (one: Act) => unknown): Promise<void> {
    return this.actorInTruth(name, acts, act, () => this.#mustBeTrue());
  }

  #mustBeTrue(): void {
    const living = this.#living;
    expect(living.length, 'more than one stream').toBeLessThanOrEqual(1);
    if (this.isClosed) expect(living).toEqual([]);
    expect(this.#link.isReady).toBe(living[0]?.state === 'open');
    expect(this.#states.at(-1) ?? false).toBe(this.#link.isReady);
    expect(this.#states).toEqual(this.#states.map((_, nth) => nth % 2 === 0));
  }

  async #tell(call: Call, asked: Promise<unknown>): Promise<void> {
    this.calls.push(call);
    call.told = await asked.then(
      () => 'answered' as const,
      (error) => {
        if (!(error instanceof SidecarFailure)) throw error;
        return error.reason;
      },
    );
    this.note(`${call.name} is told ${call.told}`);
    const { due, deadlineMs } = call;
    // Of two whose time is up together, the first may be the last that is waited for in silence.
    const isInTime = due !== null && (due.atMs < deadlineMs || call.told !== 'timeout');
    expect([call.name, call.told]).toEqual([call.name, isInTime ? due.told : 'timeout']);
    expect(performance.now()).toBe(isInTime ? due.atMs : deadlineMs);
    const [stream] = this.#living;
    if (call.told !== 'timeout' || stream?.state !== 'open' || this.firstUnheardMs === null) return;
    const silentMs = performance.now() - this.firstUnheardMs;
    expect(silentMs, 'nobody noticed the silence').toBeLessThan(SILENCE_MS);
  }

  /** Of a stream that is cut off. */
  mustBeSilent(): void {
    const silentMs = performance.now() - (this.firstUnheardMs ?? performance.now());
    if (silentMs < SILENCE_MS)
      this.failures.push(new Error(`cut off though it was heard ${silentMs} ms ago`));
  }

  #call(chars: number, timeoutMs: number): Call {
    const name = `call ${this.calls.length}`;
    return { name, chars, deadlineMs: performance.now() + timeoutMs, due: null, told: null };
  }

  get #pending(): Call[] {
    return this.calls.filter((call) => call.told === null && call.due === null && !this.#beside.has(call));
  }

  async #ask(chars: number, timeoutMs: number): Promise<void> {
    const call = this.#call(chars, timeoutMs);
    const pendingChars = this.#pending.reduce((sum, one) => sum + one.chars, 0);
    const isFull =
      this.#pending.length >= PENDING_MAX || (pendingChars > 0 && pendingChars + chars > CHARS_MAX);
    if (!this.#link.isReady) isDue(call, 'unavailable');
    else if (isFull) isDue(call, 'busy');
    else this.firstUnheardMs ??= performance.now();
    this.asking = call;
    const asked = this.#link.send(
      { timeout_ms: timeoutMs, traceparent: '', embed: { text: call.name } },
      chars,
    );
    await this.#failing(
      this.#tell(
        call,
        asked.then(({ failure }) => expect(failure?.message).toBe(call.name)),
      ),
    );
  }

  /** As `describe` does. */
  async #askBeside(timeoutMs: number): Promise<void> {
    const call = this.#call(0, timeoutMs);
    if (this.#link.isReady) this.firstUnheardMs ??= performance.now();
    const answer = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new SidecarFailure('timeout', 'late')), timeoutMs);
      this.#beside.set(call, () => {
        clearTimeout(late);
        resolve();
      });
    });
    await this.#failing(this.#tell(call, this.#link.heed(answer)));
  }

  async #failing(telling: Promise<void>): Promise<void> {
    await telling.catch((error) => this.failures.push(error));
  }

  #isHeard(): void {
    this.firstUnheardMs = this.#pending.length > 0 ? performance.now() : null;
  }

  #sidecar({ do: what, nth }: Acts['sidecar'][number]): void {
    const [stream] = this.#living;
    if (stream === undefined) return;
    if (what === 'open' || what === 'be a stranger') {
      if (stream.state !== 'opening') return;
      stream.state = what === 'open' ? 'open' : 'strange';
      const headers = new Metadata();
      headers.set('content-type', what === 'open' ? 'application/grpc+proto' : 'text/html');
      stream.emit('metadata', headers);
    } else if (what === 'break' || what === 'end') stream.over(what === 'break' ? 'error' : 'end');
    else if (stream.state === 'open') this.#answer(stream, what, nth);
  }

  #answer(stream: Stream, what: 'answer' | 'answer again', nth: number): void {
    const beside = [...this.#beside].find(([{ told, due }]) => told === null && due === null);
    if (nth === 0 && beside !== undefined) {
      const [call, resolve] = beside;
      isDue(call, 'answered');
      this.#isHeard();
      resolve();
      return;
    }
    const asked = stream.asked.filter(({ isAnswered }) => isAnswered === (what === 'answer again'));
    const one = asked[nth % asked.length];
    if (one === undefined) return;
    one.isAnswered = true;
    isDue(one.call, 'answered');
    this.#isHeard();
    stream.emit('data', { id: one.frame.id, failure: { code: 2, message: one.call.name } });
  }

  #close(): void {
    this.isClosed = true;
    this.#link.close();
  }

  async check(): Promise<void> {
    this.isFree = true;
    if (!this.isClosed) await this.#mustComeBack();
    this.#close();
    for (const answer of this.#beside.values()) answer();
    for (const call of this.#beside.keys()) isDue(call, 'answered');
    await turn();
    this.#mustBeTrue();
    expect(this.time.timers).toEqual([]);
    for (const failure of this.failures) throw failure;
    for (const call of this.calls) expect([call.name, call.told]).not.toEqual([call.name, null]);
  }

  /** And serve. */
  async #mustComeBack(): Promise<void> {
    for (const { state } of this.#living) if (state === 'strange') this.#living[0]?.over('error');
    await this.time.pass(QUIET_MS);
    this.#mustBeTrue();
    expect(this.#living).toHaveLength(1);
    this.#sidecar({ do: 'open', nth: 0 });
    expect(this.#link.isReady).toBe(true);
  }
}

const few = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 });
const acts: fc.Arbitrary<Acts> = fc.record({
  callers: fc.array(
    fc.array(
      fc.record({
        ask: fc.constantFrom('link' as const, 'link' as const, 'link' as const, 'beside' as const),
        chars: fc.constantFrom(1, 1, 1, 6),
        timeoutMs: fc.constantFrom(1, 50, 50, 250, 1_500, 1_500),
      }),
      { maxLength: 5 },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  sidecar: fc.array(
    fc.record({
      do: fc.constantFrom(
        'open' as const,
        'open' as const,
        'open' as const,
        'be a stranger' as const,
        'answer' as const,
        'answer' as const,
        'answer again' as const,
        'break' as const,
        'end' as const,
      ),
      nth: fc.nat({ max: 2 }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  owner: fc.oneof(
    fc.array(fc.constant('reopen' as const), { maxLength: 4 }),
    fc.array(fc.constantFrom('reopen' as const, 'reopen' as const, 'close' as const), { maxLength: 4 }),
  ),
  clock: fc.array(fc.record({ ms: fc.constantFrom(1, 20, 50, 250, 1_000, 1_000) }), { maxLength: 8 }),
  breaking: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 1 }),
  throwing: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 1 }),
  together: few,
});

afterEach(realTimers);

it(
  'at once, in any order: every call is told once, one stream is open at most, its state is true, and close leaves nothing',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 800);
  },
  RACES_MS,
);
