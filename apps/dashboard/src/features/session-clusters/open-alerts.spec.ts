import { describe, expect, it } from 'vitest';
import type { AlertGroup, SessionView } from '#contracts';
import { holdAlerts, isOpenAlert, orderAlerts } from './open-alerts';

const group = (session_id: string, first_at_ms = 0, last_at_ms = 100) =>
  ({ session_id, first_at_ms, last_at_ms }) as AlertGroup;
const session = (severity: string, last_seen_ms: number, state = 'active', ended = false) =>
  ({ severity, last_seen_ms, ended, control: { state } }) as SessionView;
const ids = (groups: AlertGroup[]) => groups.map(({ session_id }) => session_id);

describe('isOpenAlert', () => {
  it('[FR-9.10+] shows an alert that arrives before the row of its session', () => {
    expect(isOpenAlert(group('a'), undefined, false)).toBe(true);
    expect(isOpenAlert(group('a'), session('warning', 99), false)).toBe(true);
  });

  it('lets a row go whose session the list has no longer room for', () => {
    expect(isOpenAlert(group('a'), undefined, true)).toBe(false);
  });

  it('lets a row go once its session has recovered', () => {
    expect(isOpenAlert(group('a'), session('normal', 101), false)).toBe(false);
  });

  it('keeps a row while a person holds the session', () => {
    expect(isOpenAlert(group('a'), session('normal', 101, 'paused'), false)).toBe(true);
  });

  it('lets the row of an ended session go', () => {
    expect(isOpenAlert(group('a'), session('loop', 101, 'terminated', true), false)).toBe(false);
  });
});

describe('orderAlerts', () => {
  it('puts the latest loop first, whichever raised an alert last', () => {
    const sessions = new Map(['older', 'newer'].map((id) => [id, session('loop', 1)]));
    const groups = [group('older', 1, 200), group('newer', 2)];
    expect(ids(orderAlerts(groups, sessions))).toEqual(['newer', 'older']);
  });
});

describe('holdAlerts', () => {
  it('moves no row under the pointer: what is new joins at the end', () => {
    const groups = new Map(['a', 'b', 'new'].map((id) => [id, group(id)]));
    expect(ids(holdAlerts(['b', 'a'], [group('new'), group('a')], groups))).toEqual(['b', 'a', 'new']);
  });
});
