/** However operators at several gateways cross, and whenever Redis is away from one of them: all end with the same. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ControlAct, ControlWord } from '#contracts';
import { countingIds, FakeTime } from '#testing';
import { FakeControlLog, OPERATOR } from './control-log.fixture.js';
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

function newGateway(gatewayId: string, shared: FakeControlLog) {
  const state: Record<string, unknown> = { session: 'active' };
  const reach = new Reach(shared);
  const obey = (act: ControlAct) => {
    if (act.kind === 'policy') Object.assign(state, act.patch);
    if (act.kind !== 'command' || state.session === 'terminated') return;
    if (act.command.command === 'terminate') state.session = 'terminated';
    else state.session = act.command.command === 'pause' ? 'paused' : 'active';
  };
  const time = new FakeTime(0);
  const control = new SharedControl({
    isStored: () => true,
    log: reach,
    gatewayId,
    store: { settings: async () => new Map(), saveSettings: async () => {} },
    obey: async ({ left }) => {
      const act = left();
      if (act !== null) obey(act);
    },
    events: {
      told() {},
      obeyed() {},
      notObeyed() {},
      unreadable() {},
      missed() {},
      lost() {},
      unreachable() {},
    } as never,
    ids: countingIds(),
    clock: time,
    timer: time,
  });
  return {
    state,
    reach,
    control,
    command: (word: ControlWord) => {
      if (word.act.kind === 'command' && state.session === 'terminated') return;
      obey(word.act);
      control.tell(word);
    },
  };
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
      .constantFrom('look' as const, 'late' as const, 'away' as const, 'back' as const)
      .map((kind) => ({ kind })),
  ),
});

test('gateways agree once all have heard everything', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArb, { maxLength: 40 }), async (steps) => {
      const shared = new FakeControlLog();
      const gateways = GATEWAYS.map((id) => newGateway(id, shared));
      for (const { at, does } of steps) {
        const gateway = gateways[at] as (typeof gateways)[number];
        if (does.kind === 'command') gateway.command(does.word);
        else if (does.kind === 'look') await gateway.control.look();
        else if (does.kind === 'late') gateway.reach.isLate = true;
        else gateway.reach.isAway = does.kind === 'away';
      }
      for (const { reach } of gateways) reach.isAway = false;
      for (let round = 0; round < 3; round += 1)
        for (const { control } of gateways) {
          await control.look();
          await control.look();
        }
      const [first, ...others] = gateways.map(({ state }) => state);
      for (const other of others) expect(other).toEqual(first);
    }),
    { numRuns: 500 },
  );
});
