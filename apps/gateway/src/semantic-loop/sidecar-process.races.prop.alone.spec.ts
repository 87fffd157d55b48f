/**
 * The sidecar's process, its gateway and the clock at once, in any order. Whatever the order: there is one process at most, none after a
 * stop, which comes to its end; one that hangs is killed and no other, one that ended is started again, and the state is true.
 */
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { checkRaces, FakeTime, letAllCome, RACES_MS, RaceOfActors, turn } from '#testing';
import { realTimers, timersBy } from '#testing/timers-by';
import { SidecarProcess, type SidecarState } from './sidecar-process.js';

const spawn = vi.hoisted(() => vi.fn<() => ChildProcess>());
vi.mock('node:child_process', async (original) => ({ ...(await original<object>()), spawn }));

const HUNG_MS = 1_000;
const STARTING_MS = 8_000;
const STOP_MS = 5_000;
/** The longest pause before a start. */
const PAUSE_MS = 30_000;

/** How a spawn goes: there is a process, which may not heed SIGTERM; or none, told at once or later. */
type Birth = 'heeds' | 'deaf' | 'throws' | 'fails' | 'fails and closes';

interface Acts {
  births: Birth[];
  child: ('ready' | 'model_died' | 'exit')[];
  gateway: ('start' | 'stop' | 'reached' | 'unreached')[];
  clock: { ms: number }[];
  together: number[];
}

class Child extends EventEmitter {
  readonly stdin = new EventEmitter();
  readonly stdout = Object.assign(new EventEmitter(), { setEncoding: () => {} });
  readonly signals: string[] = [];
  readonly bornMs = performance.now();
  isReady = false;
  isOver = false;

  constructor(
    readonly race: Race,
    readonly birth: Birth,
    readonly pid: number | undefined,
  ) {
    super();
  }

  kill(signal: string): void {
    this.signals.push(signal);
    if (signal === 'SIGKILL') this.race.mustDeserve(this);
    if (signal === 'SIGTERM' && this.birth === 'deaf') return;
    void this.race.port(`${signal} arrives at ${this.pid}`).then(() => this.exit(null, signal));
  }

  say(event: string): void {
    this.stdout.emit('data', `${JSON.stringify({ level: 'info', msg: event, event, reason: event })}\n`);
  }

  exit(code: number | null, signal: string | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.race.watch();
    this.emit('close', code, signal);
  }

  async fail(): Promise<void> {
    await this.race.port(`error of spawn ${this.race.children.length}`);
    this.isOver = true;
    this.emit('error', Object.assign(new Error('no process'), { code: 'EAGAIN' }));
    if (this.birth === 'fails') return;
    await this.race.port(`close of spawn ${this.race.children.length}`);
    this.emit('close', -11, null);
  }
}

const isStuckAtStart = ({ isReady, bornMs }: Child): boolean =>
  !isReady && performance.now() - bornMs >= STARTING_MS;

class Race extends RaceOfActors {
  readonly children: Child[] = [];
  readonly #process: SidecarProcess;
  readonly #time = new FakeTime();
  #told: SidecarState | null = null;
  #spawnCount = 0;
  #isStarted = false;
  /** When it was asked to stop, and whether it said that it has. */
  #stopMs: number | null = null;
  #isStopped = false;
  #isReached: boolean | null = null;
  /** Since when the process that serves has not been reached; null: it is reached, or none serves. */
  #unreachedMs: number | null = null;

  constructor(
    readonly acts: Acts,
    scheduler: fc.Scheduler,
  ) {
    super(scheduler);
    timersBy(this.#time);
    spawn.mockImplementation(() => this.#spawn());
    this.#process = new SidecarProcess({
      dataDir: '/data',
      environment: {},
      logger: pino({ level: 'silent' }),
      clock: this.#time,
      onState: (state) => {
        this.#told = state;
        this.note(`${state.state} ${state.detail}`);
      },
      hungMs: HUNG_MS,
      startingMs: STARTING_MS,
    });
  }

  get #living(): Child[] {
    return this.children.filter(({ isOver }) => !isOver);
  }

  #spawn(): ChildProcess {
    const birth = this.acts.births[this.#spawnCount % this.acts.births.length] as Birth;
    this.#spawnCount += 1;
    this.note(`spawn ${birth}`);
    expect(this.#stopMs, 'spawned after the stop').toBeNull();
    expect(this.#living, 'spawned beside another').toEqual([]);
    if (birth === 'throws') throw Object.assign(new Error('too long'), { code: 'E2BIG' });
    const hasProcess = birth === 'heeds' || birth === 'deaf';
    const child = new Child(this, birth, hasProcess ? this.#spawnCount : undefined);
    this.children.push(child);
    if (!hasProcess) void child.fail();
    return child as unknown as ChildProcess;
  }

  /** Of a SIGKILL. */
  mustDeserve(child: Child): void {
    const nowMs = performance.now();
    const isSlow = this.#stopMs !== null && nowMs - this.#stopMs >= STOP_MS;
    const isHung =
      this.#stopMs === null && this.#unreachedMs !== null && nowMs - this.#unreachedMs >= HUNG_MS;
    const isStuck = this.#stopMs === null && isStuckAtStart(child);
    expect([child.pid, isSlow || isHung || isStuck]).toEqual([child.pid, true]);
  }

  async run(): Promise<void> {
    const { acts } = this;
    void this.#acting('child', acts.child, (act) => this.#child(act));
    void this.#acting('gateway', acts.gateway, (act) => this.#gateway(act));
    void this.#acting('clock', acts.clock, ({ ms }) => turn().then(() => this.#time.pass(ms)));
    do await letAllCome(this.scheduler, acts.together);
    while (this.busyCount > 0);
  }

  #acting<Act>(name: string, acts: readonly Act[], act: (one: Act) => unknown): Promise<void> {
    return this.actorInTruth(name, acts, act, () => this.#mustBeTrue());
  }

  #child(act: Acts['child'][number]): void {
    const [child] = this.#living;
    if (child?.pid === undefined) return;
    if (act === 'exit') child.exit(1, null);
    else {
      if (act === 'ready') child.isReady = true;
      child.say(act);
    }
    this.watch();
  }

  #gateway(act: Acts['gateway'][number]): void {
    if (act === 'start') {
      this.#isStarted ||= this.#stopMs === null;
      this.#process.start();
    } else if (act === 'stop') {
      this.#stopMs ??= performance.now();
      void this.#stop();
    } else {
      this.#isReached = act === 'reached';
      this.#unreachedMs = null;
      this.watch();
      this.#process.noteReached(this.#isReached);
    }
  }

  async #stop(): Promise<void> {
    try {
      await this.#process.stop();
      this.note('stopped');
      expect(this.#living.filter(({ pid }) => pid !== undefined)).toEqual([]);
      await turn();
      expect(this.#time.timerCount).toBe(0);
      this.#isStopped = true;
    } catch (error) {
      this.failures.push(error);
    }
  }

  watch(): void {
    const isLost = this.#living[0]?.isReady === true && this.#isReached === false;
    this.#unreachedMs = isLost ? (this.#unreachedMs ?? performance.now()) : null;
  }

  #mustBeTrue(): void {
    this.watch();
    const [child] = this.#living;
    const { state } = this.#process;
    const due = child === undefined ? 'down' : child.isReady ? 'serving' : 'starting';
    expect(state).toMatchObject({ state: due, pid: child?.pid ?? null });
    if (this.#told !== null) expect(this.#told).toEqual(state);
    expect(state.restart_count).toBe(Math.max(0, this.#spawnCount - 1));
    if (due === 'serving') expect(state.detail).toBeNull();
    const isHung = this.#unreachedMs !== null && performance.now() - this.#unreachedMs >= HUNG_MS;
    const isStuck = child?.pid !== undefined && isStuckAtStart(child);
    if ((isHung || isStuck) && this.#stopMs === null) expect(child?.signals).toContain('SIGKILL');
  }

  async check(): Promise<void> {
    for (const failure of this.failures) throw failure;
    if (this.#stopMs === null && this.#isStarted) {
      if (this.#living.length === 0) await this.#mustStartAgain();
      this.#gateway('stop');
    }
    await this.#time.pass(STOP_MS);
    await letAllCome(this.scheduler, this.acts.together);
    for (const failure of this.failures) throw failure;
    if (this.#stopMs === null) return;
    expect(this.#isStopped, 'it does not stop').toBe(true);
    this.#mustBeTrue();
    expect(this.#time.timerCount).toBe(0);
  }

  async #mustStartAgain(): Promise<void> {
    const { detail } = this.#process.state;
    expect(detail).not.toBeNull();
    const before = this.#spawnCount;
    await this.#time.pass(PAUSE_MS);
    await letAllCome(this.scheduler, this.acts.together);
    expect(this.#spawnCount).toBeGreaterThan(before);
  }
}

const acts: fc.Arbitrary<Acts> = fc.record({
  births: fc.array(
    fc.constantFrom<Birth[]>(
      'heeds',
      'heeds',
      'heeds',
      'deaf',
      'deaf',
      'throws',
      'fails',
      'fails and closes',
    ),
    { minLength: 1, maxLength: 4 },
  ),
  child: fc.array(fc.constantFrom<Acts['child']>('ready', 'ready', 'model_died', 'exit'), { maxLength: 8 }),
  gateway: fc
    .array(
      fc.constantFrom<Acts['gateway']>(
        'start',
        'reached',
        'unreached',
        'unreached',
        'reached',
        'unreached',
        'stop',
      ),
      { maxLength: 8 },
    )
    .map((rest) => ['start' as const, ...rest]),
  clock: fc.array(fc.record({ ms: fc.constantFrom(1, 50, 100, 200, HUNG_MS, STOP_MS, 10_000) }), {
    maxLength: 8,
  }),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

afterEach(realTimers);

it(
  'at once, in any order: one process at most, none after the stop, killed if it hangs, started again, and its state is true',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 300);
  },
  RACES_MS,
);
