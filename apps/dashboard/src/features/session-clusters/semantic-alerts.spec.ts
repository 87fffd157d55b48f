import { describe, expect, it } from 'vitest';
import {
  SEMANTIC_ALERT_OVER_AFTER_MS,
  type SemanticLoopAction,
  type SemanticLoopEvent,
  type SessionView,
} from '#contracts';
import { goingOn, groupSemanticLoops, isOpenSemanticAlert, orderSemanticAlerts } from './semantic-alerts';

const loop = (session_id: string, action: SemanticLoopAction, at_ms: number, occurrence = 1) =>
  ({ session_id, agent_id: 'a', action, at_ms, occurrence }) as SemanticLoopEvent;
const session = (state: string, since_ms: number | null = null, ended = false) =>
  ({ ended, control: { state, since_ms } }) as SessionView;
const alertOf = (...events: SemanticLoopEvent[]) => {
  const alert = groupSemanticLoops(events).values().next().value;
  if (!alert) throw new Error('no alert');
  return alert;
};

describe('groupSemanticLoops', () => {
  it('makes one alert of all loops of a session, and none of a hint alone', () => {
    const groups = groupSemanticLoops([
      loop('s', 'paused', 30, 3),
      loop('other', 'hinted', 25),
      loop('s', 'alerted', 20, 2),
      loop('s', 'hinted', 10, 1),
    ]);
    expect([...groups.keys()]).toEqual(['s']);
    expect(groups.get('s')).toMatchObject({
      loop_count: 3,
      first_at_ms: 10,
      latest: { action: 'paused', at_ms: 30 },
    });
  });

  it('begins anew with a session that loops again after its loop was over', () => {
    const again = [loop('s', 'alerted', 9_000, 2), loop('s', 'hinted', 8_000, 1)];
    const before = [loop('s', 'alerted', 20, 2), loop('s', 'hinted', 10, 1)];
    expect(alertOf(...again, ...before)).toMatchObject({ loop_count: 2, first_at_ms: 8_000 });
    // A gateway that had no room for more of its sessions counts on from the first again, too.
    expect(alertOf(loop('s', 'alerted', 9_000, 2), ...before)).toMatchObject({ first_at_ms: 9_000 });
  });

  it('is about the latest loop that came further than a hint', () => {
    expect(alertOf(loop('s', 'hinted', 90), loop('s', 'alerted', 10)).latest.at_ms).toBe(10);
  });
});

describe('isOpenSemanticAlert', () => {
  const alert = alertOf(loop('s', 'alerted', 100));

  it('stands at once, also before the row of its session', () => {
    expect(isOpenSemanticAlert(alert, undefined, 100)).toBe(true);
    expect(isOpenSemanticAlert(alert, session('active'), 100)).toBe(true);
  });

  it('is over when nothing was asked again for a while', () => {
    expect(isOpenSemanticAlert(alert, session('active'), 100 + SEMANTIC_ALERT_OVER_AFTER_MS)).toBe(false);
  });

  it('is over once the clock that saw it is set back by as much', () => {
    const ahead = alertOf(loop('s', 'alerted', 100 + SEMANTIC_ALERT_OVER_AFTER_MS));
    expect(isOpenSemanticAlert(ahead, session('active'), 101)).toBe(true);
    expect(isOpenSemanticAlert(ahead, session('active'), 100)).toBe(false);
  });

  it('stays while a person holds the session, and goes once they let it go on', () => {
    const later = 100 + 10 * SEMANTIC_ALERT_OVER_AFTER_MS;
    expect(isOpenSemanticAlert(alert, session('paused', 150), later)).toBe(true);
    expect(isOpenSemanticAlert(alert, session('active', 150), 160)).toBe(false);
    expect(isOpenSemanticAlert(alert, session('active', 50), 160)).toBe(true);
  });

  it('goes with its session', () => {
    expect(isOpenSemanticAlert(alert, session('terminated', 150, true), 160)).toBe(false);
  });
});

describe('orderSemanticAlerts', () => {
  it('puts the latest to begin first, and leaves those with an entropy alert to that one', () => {
    const alerts = groupSemanticLoops([
      loop('newer', 'alerted', 30),
      loop('older', 'alerted', 20),
      loop('entropy', 'alerted', 10),
    ]);
    const ordered = orderSemanticAlerts(alerts.values(), new Map(), new Set(['entropy']), 50);
    expect(ordered.map(({ session_id }) => session_id)).toEqual(['newer', 'older']);
  });
});

describe('goingOn', () => {
  const alerts = groupSemanticLoops([loop('s', 'alerted', 100)]);
  const isGoingOn = (view: SessionView, nowMs: number) =>
    goingOn(alerts, new Map([['s', view]]), nowMs).has('s');

  it('has a session until it is let go on, or asks nothing again for a while', () => {
    expect(isGoingOn(session('active'), 100)).toBe(true);
    expect(isGoingOn(session('paused', 150), 200)).toBe(true);
    expect(isGoingOn(session('active', 150), 200)).toBe(false);
    expect(isGoingOn(session('active'), 100 + SEMANTIC_ALERT_OVER_AFTER_MS)).toBe(false);
  });

  it('has none that is paused later, whatever for', () => {
    const later = 100 + SEMANTIC_ALERT_OVER_AFTER_MS;
    expect(isGoingOn(session('paused', later), later)).toBe(false);
  });
});
