import { describe, expect, it } from 'vitest';
import { type EntropyAlertEvent, type SessionView, sessionKey } from '#contracts';
import { FakeClock } from '#testing';
import { AlertBoard, GROUP_COUNT_MAX } from './alert-board.js';

const LOOPING = { ended: false, severity: 'loop', control: { state: 'active' } } as SessionView;

function start() {
  const clock = new FakeClock();
  const board = new AlertBoard(clock, () => LOOPING);
  /** @returns whether another group gave way */
  const raise = (tenant: string, session_id: string) => {
    const event = { event_type: 'entropy_alert', session_id, agent_id: 'a', at_ms: clock.nowMs() };
    return board.raise(sessionKey(tenant, session_id), event as EntropyAlertEvent);
  };
  const open = (tenant: string) => board.open(tenant).map(({ session_id }) => session_id);
  return { clock, board, raise, open };
}

describe('the board of open alerts', () => {
  it('keeps the alerts of a tenant that has few, however many another has', () => {
    const { clock, raise, open } = start();
    raise('small', 's-1');
    clock.advance(1);
    let gaveWayCount = 0;
    for (let count = 0; count < GROUP_COUNT_MAX + 10; count += 1)
      if (raise('flood', `f-${count}`)) gaveWayCount += 1;
    expect(open('small')).toEqual(['s-1']);
    expect(open('flood')).toHaveLength(GROUP_COUNT_MAX - 1);
    expect(open('flood')).not.toContain('f-10');
    expect(gaveWayCount).toBe(11);
    // Whoever has few goes on getting room.
    expect(raise('small', 's-2')).toBe(true);
    expect(open('small')).toHaveLength(2);
  });

  it('lets go first of the group that has been silent longest', () => {
    const { raise, open } = start();
    for (let count = 0; count < GROUP_COUNT_MAX; count += 1) raise('t', `s-${count}`);
    expect(raise('t', 's-0')).toBe(false);
    expect(raise('t', 'one more')).toBe(true);
    const sessions = open('t');
    expect(sessions).toContain('s-0');
    expect(sessions).not.toContain('s-1');
  });

  it('takes no room for sessions that are over', () => {
    const clock = new FakeClock();
    const board = new AlertBoard(clock, () => undefined);
    const raise = (session_id: string) =>
      board.raise(sessionKey('t', session_id), { session_id, at_ms: clock.nowMs() } as EntropyAlertEvent);
    for (let count = 0; count < GROUP_COUNT_MAX; count += 1) raise(`s-${count}`);
    clock.advance(60_000);
    expect(board.open('t')).toEqual([]);
    expect(raise('new')).toBe(false);
    expect(board.open('t')).toHaveLength(1);
  });
});
