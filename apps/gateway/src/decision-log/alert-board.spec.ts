import { pino } from 'pino';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type AlertGroup,
  type DecisionStore,
  type EntropyAlertEvent,
  type SessionKey,
  type SessionView,
  sessionKey,
} from '#contracts';
import { FakeClock } from '#testing';
import { AlertBoard, GROUP_COUNT_MAX } from './alert-board.js';
import { IngestEvents } from './ingest-events.js';

const LOOPING = { ended: false, severity: 'loop', control: { state: 'active' } } as SessionView;

function start() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const metrics = new Registry();
  const gauges = { liveSessions: () => 0, windows: () => 0, storeQueue: () => 0 };
  const events = new IngestEvents(clock, logger, metrics, gauges);
  let gaveWayCount = 0;
  const onGaveWay = () => {
    gaveWayCount += 1;
    events.alertGaveWay(GROUP_COUNT_MAX);
  };
  const board = new AlertBoard(clock, () => LOOPING, onGaveWay);
  /** @returns whether another group gave way */
  const raise = (tenant: string, session_id: string) => {
    const before = gaveWayCount;
    const event = { event_type: 'entropy_alert', session_id, agent_id: 'a', at_ms: clock.nowMs() };
    board.raise(sessionKey(tenant, session_id), event as EntropyAlertEvent);
    return gaveWayCount > before;
  };
  const open = (tenant: string) => board.open(tenant).map(({ session_id }) => session_id);
  const counted = async () =>
    (await metrics.getSingleMetric('observatory_entropy_alerts_gave_way_total')?.get())?.values[0]?.value;
  return { clock, board, raise, open, lines, counted };
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

  it('counts each that gives way, and writes one line a minute about them', async () => {
    const { clock, raise, lines, counted } = start();
    for (let count = 0; count < GROUP_COUNT_MAX; count += 1) raise('t', `s-${count}`);
    expect([await counted(), lines.length]).toEqual([0, 0]);
    raise('t', 'one more');
    clock.advance(59_999);
    raise('t', 'another');
    expect([await counted(), lines.length]).toEqual([2, 1]);
    clock.advance(1);
    raise('t', 'a third');
    expect([await counted(), lines.length]).toEqual([3, 2]);
    expect(JSON.parse(lines[1] as string)).toMatchObject({ event: 'entropy_alert_gave_way', count: 3 });
  });

  it('counts those too for which there is no room after a restart', async () => {
    const { board, open, counted } = start();
    const store = {
      alertGroup: async (_: string, session_id: string) => ({ session_id, last_at_ms: 0, latest: {} }),
    };
    const sessions = Array.from({ length: GROUP_COUNT_MAX + 2 }, (_, n): [SessionKey, SessionView] => [
      sessionKey('t', `s-${n}`),
      LOOPING,
    ]);
    await board.recover(store as unknown as DecisionStore, sessions);
    expect(open('t')).toHaveLength(GROUP_COUNT_MAX);
    expect(await counted()).toBe(2);
  });

  it('shows nothing of a session that is over because a clock that was ahead has stamped its alert', () => {
    const clock = new FakeClock();
    const board = new AlertBoard(
      clock,
      () => undefined,
      () => {},
    );
    const event = { event_type: 'entropy_alert', session_id: 's', agent_id: 'a', at_ms: clock.nowMs() };
    board.raise(sessionKey('t', 's'), event as EntropyAlertEvent);
    expect(board.open('t')).toHaveLength(1);
    clock.set(clock.nowMs() - 3_600_000);
    expect(board.open('t')).toEqual([]);
  });

  describe('of a session that loops anew', () => {
    const OVER = { ...LOOPING, severity: 'normal' } as SessionView;
    const key = sessionKey('t', 's');
    const inBrief = ({ alert_count, first_at_ms }: Pick<AlertGroup, 'alert_count' | 'first_at_ms'>) => [
      alert_count,
      first_at_ms,
    ];
    let clock: FakeClock;
    let view: SessionView;
    let board: AlertBoard;
    const raise = () =>
      board.raise(key, { session_id: 's', agent_id: 'a', at_ms: clock.nowMs() } as EntropyAlertEvent);
    beforeEach(() => {
      clock = new FakeClock(0);
      view = LOOPING;
      board = new AlertBoard(
        clock,
        () => view,
        () => {},
      );
    });

    it('begins anew, whether somebody looked in between or not, and each alert says so', () => {
      for (const looks of [false, true]) {
        raise();
        view = OVER;
        clock.advance(3_600_000);
        if (looks) board.open('t');
        expect(inBrief(raise())).toEqual([1, clock.nowMs()]);
        expect(board.open('t').map(inBrief)).toEqual([[1, clock.nowMs()]]);
        view = LOOPING;
        const beganMs = clock.nowMs();
        clock.advance(60_000);
        expect(inBrief(raise())).toEqual([2, beganMs]);
      }
    });

    it('goes on where its row has not told of the loop yet', () => {
      view = OVER;
      raise();
      clock.advance(100);
      expect(inBrief(raise())).toEqual([2, 0]);
    });

    it('goes on after a restart where it was', async () => {
      raise();
      view = OVER;
      clock.advance(3_600_000);
      const latest = raise();
      const ofSession = {
        session_id: 's',
        agent_id: 'a',
        alert_count: 2,
        first_at_ms: 0,
        last_at_ms: 3_600_000,
      };
      const recovered = new AlertBoard(
        clock,
        () => LOOPING,
        () => {},
      );
      const store = { alertGroup: async () => ({ ...ofSession, latest }) };
      await recovered.recover(store as unknown as DecisionStore, [[key, LOOPING]]);
      expect(recovered.open('t')).toEqual(board.open('t'));
    });
  });

  it('takes no room for sessions that are over', () => {
    const clock = new FakeClock();
    let gaveWayCount = 0;
    const onGaveWay = () => {
      gaveWayCount += 1;
    };
    const board = new AlertBoard(clock, () => undefined, onGaveWay);
    const raise = (session_id: string) =>
      board.raise(sessionKey('t', session_id), { session_id, at_ms: clock.nowMs() } as EntropyAlertEvent);
    for (let count = 0; count < GROUP_COUNT_MAX; count += 1) raise(`s-${count}`);
    clock.advance(60_000);
    expect(board.open('t')).toEqual([]);
    raise('new');
    expect(board.open('t')).toHaveLength(1);
    expect(gaveWayCount).toBe(0);
  });
});
