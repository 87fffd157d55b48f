/**
 * However operators at several gateways cross, whenever Redis is away from one of them, and whenever one is killed: all end with the same,
 * but for what a gateway that was killed had not told anybody.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ControlAct, ControlWord } from '#contracts';
import { countingIds, FakeTime } from '#testing';
import { FakeControlLog, OPERATOR, SILENT_EVENTS } from './control-log.fixture.js';
import { readSaid } from './said.js';
import { SharedControl } from './shared-control.js';

const GATEWAYS = ['a', 'b', 'c'];
type Field = 'session_calls_max' | 'requests_per_minute';

/** One gateway's own log: the shared one, which only this gateway may not reach. */
class Reach extends FakeControlLog {
  /** The next word is taken, and the answer comes too late. */
  isLate = false;

  constructor(readonly shared: FakeControlLog) {
    super();
  }

  override async append(text: string): Promise<void> {
    if (this.isAway) throw new Error('away');
    await this.shared.append(text);
    if (!this.isLate) return;
    this.isLate = false;
    throw new Error('timeout');
  }

  override async readAfter(cursor: string | null, countMax: number) {
    if (this.isAway) throw new Error('away');
    return this.shared.readAfter(cursor, countMax);
  }
}

/** Until it dies: then nothing of it reaches anybody. */
class Process {
  isStored = true;
  isDead = false;
  readonly control: SharedControl;

  constructor(
    readonly gateway: Gateway,
    readonly reach: Reach,
  ) {
    const time = new FakeTime(0);
    const { id, ids, saved } = gateway;
    this.control = new SharedControl({
      isStored: () => this.isStored,
      log: reach,
      gatewayId: id,
      store: {
        settings: async () => saved,
        saveSettings: async (settings: ReadonlyMap<string, unknown>) => {
          if (this.isDead) throw new Error('dead');
          for (const [name, value] of settings) saved.set(name, value);
        },
      } as never,
      obey: async ({ left }) => {
        const act = left();
        if (act !== null) gateway.obey(act);
      },
      events: SILENT_EVENTS,
      ids,
      clock: time,
      timer: time,
    });
  }
}

class Gateway {
  readonly ids = countingIds();
  readonly saved = new Map<string, unknown>();
  readonly state: Record<string, unknown> = { session: 'active' };
  /** In their order; those that stand in the log come first. */
  readonly told: ControlWord[] = [];
  /** What was decided by words that nobody will hear of any more. */
  readonly untold = new Set<string>();
  process: Process;

  constructor(
    readonly id: string,
    readonly shared: FakeControlLog,
  ) {
    this.process = new Process(this, new Reach(shared));
  }

  obey(act: ControlAct): void {
    if (act.kind === 'policy') Object.assign(this.state, act.patch);
    if (act.kind !== 'command' || this.state.session === 'terminated') return;
    if (act.command.command === 'terminate') this.state.session = 'terminated';
    else this.state.session = act.command.command === 'pause' ? 'paused' : 'active';
  }

  command(word: ControlWord): void {
    if (word.act.kind === 'command' && this.state.session === 'terminated') return;
    this.obey(word.act);
    this.told.push(word);
    this.process.control.tell(word);
  }

  /** What it has done is stored; what waits for Redis is not. */
  async kill(): Promise<void> {
    const { process: last, shared } = this;
    last.isDead = true;
    last.reach.isAway = true;
    await last.control.stop();
    const heardCount = shared.entries.filter(({ text }) => readSaid(text)?.from === this.id).length;
    for (const { act } of this.told.splice(heardCount))
      for (const name of act.kind === 'policy' ? Object.keys(act.patch) : ['session']) this.untold.add(name);
    this.process = new Process(this, new Reach(shared));
    await this.process.control.start();
  }
}

const limit = (field: Field, value: number): ControlWord => ({
  ...OPERATOR,
  act: { kind: 'policy', agent_id: 'bot', patch: { [field]: value } },
});
const session = (command: 'pause' | 'resume' | 'terminate'): ControlWord => ({
  ...OPERATOR,
  act: { kind: 'command', session_id: 's', directive_id: 'd', command: { command, reason: 'r' } },
});

const wordArb = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<'pause' | 'resume'>('pause', 'resume').map(session) },
  { weight: 1, arbitrary: fc.constant(session('terminate')) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Field>('session_calls_max', 'requests_per_minute'),
        fc.integer({ min: 1, max: 9 }),
      )
      .map(([field, value]) => limit(field, value)),
  },
);
const stepArb = fc.record({
  at: fc.nat({ max: GATEWAYS.length - 1 }),
  does: fc.oneof(
    wordArb.map((word) => ({ kind: 'command' as const, word })),
    fc
      .constantFrom('look', 'late', 'away', 'back', 'kill', 'refused', 'stored')
      .map((kind) => ({ kind: kind as 'look' | 'late' | 'away' | 'back' | 'kill' | 'refused' | 'stored' })),
  ),
});
type Does = typeof stepArb extends fc.Arbitrary<{ does: infer Done }> ? Done : never;

async function act(gateway: Gateway, does: Does): Promise<void> {
  const { process } = gateway;
  switch (does.kind) {
    case 'command':
      return gateway.command(does.word);
    case 'look':
      return process.control.look();
    case 'kill':
      return gateway.kill();
    case 'late':
      process.reach.isLate = true;
      return;
    case 'away':
    case 'back':
      process.reach.isAway = does.kind === 'away';
      return;
    default:
      process.isStored = does.kind === 'stored';
  }
}

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
});
afterAll(() => {
  vi.useRealTimers();
});

test('gateways agree once all have heard everything', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArb, { maxLength: 40 }), async (steps) => {
      const shared = new FakeControlLog();
      const gateways = GATEWAYS.map((id) => new Gateway(id, shared));
      for (const { at, does } of steps) await act(gateways[at] as Gateway, does);
      for (const { process } of gateways) process.reach.isAway = false;
      for (let round = 0; round < 3; round += 1)
        for (const { process } of gateways) {
          await process.control.look();
          await process.control.look();
        }
      const isUntold = (name: string) => gateways.some(({ untold }) => untold.has(name));
      const [first, ...others] = gateways.map(({ state }) =>
        Object.fromEntries(Object.entries(state).filter(([name]) => !isUntold(name))),
      );
      for (const other of others) expect(other).toEqual(first);
    }),
    { numRuns: 500 },
  );
});
