import { describe, expect, it } from 'vitest';
import { type ControlView, type StoredStep, SYSTEM_OPERATOR, sessionKey } from '#contracts';
import type { FiringState } from '#domain/alerts';
import { buildDecisionLog, buildSessionView } from '#testing';
import { ASKERS_PER_SESSION_MAX, type Askers, addTold, PersonWaits } from './person-waits.js';

const KEY = sessionKey('default', 's1');
const control = (changes: Partial<ControlView>): ControlView => ({
  ...buildSessionView().control,
  ...changes,
});
const LOOPED = control({
  state: 'paused',
  operator_id: SYSTEM_OPERATOR,
  reason: 'semantic loop 3',
  since_ms: 1_000,
});
const ask = (agent_id = 'clerk') =>
  ({ agent_id, log: buildDecisionLog({ control: { hitl_required: true } } as never) }) as StoredStep;

describe('an agent waits for a person', () => {
  it('that asks in a session which its policy has paused, until that is over', () => {
    const waits = new PersonWaits(() => {});
    expect(waits.noteHeld(KEY, ask(), LOOPED)).toBe(true);
    expect(waits.noteHeld(KEY, ask(), LOOPED)).toBe(false);
    expect([...waits.noteControl(KEY, LOOPED)]).toEqual([]);
    expect([...waits.noteControl(KEY, control({ state: 'expired' }))]).toEqual(['clerk']);
    expect([...waits.noteControl(KEY, control({ state: 'active' }))]).toEqual([]);
  });

  it('not where it asks of nobody, nor where somebody has come meanwhile', () => {
    const waits = new PersonWaits(() => {});
    const plain = { agent_id: 'clerk', log: buildDecisionLog() } as StoredStep;
    expect(waits.noteHeld(KEY, plain, LOOPED)).toBe(false);
    expect(waits.noteHeld(KEY, ask(), control({ state: 'active' }))).toBe(false);
  });

  it('as one of so many of its session, beyond which it is counted only', () => {
    let fullCount = 0;
    const waits = new PersonWaits(() => {
      fullCount += 1;
    });
    for (let n = 0; n < ASKERS_PER_SESSION_MAX; n += 1)
      expect(waits.noteHeld(KEY, ask(`agent-${n}`), LOOPED)).toBe(true);
    expect(waits.noteHeld(KEY, ask('one more'), LOOPED)).toBe(false);
    expect(waits.noteHeld(KEY, ask('agent-0'), LOOPED)).toBe(false);
    expect(fullCount).toBe(1);
    expect([...waits.noteControl(KEY, control({ state: 'terminated' }))]).toHaveLength(
      ASKERS_PER_SESSION_MAX,
    );
  });
});

describe('what was told before a restart', () => {
  const told = (last_notice_ms: number) =>
    ({ agent_id: 'clerk', told_session_ids: ['s1', 'gone'], last_notice_ms }) as FiringState;
  const askersWith = (state: FiringState) => {
    const askers: Askers = new Map();
    addTold(askers, new Map([[KEY, LOOPED]]), 'default', [state]);
    return askers;
  };

  it('is a wait that goes on while its session is in the same pause', () => {
    expect(askersWith(told(1_000))).toEqual(new Map([[KEY, new Set(['clerk'])]]));
  });

  it('is over where the session was paused anew', () => {
    expect(askersWith(told(999))).toEqual(new Map());
  });
});
