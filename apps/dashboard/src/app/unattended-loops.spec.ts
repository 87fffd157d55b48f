import { describe, expect, it } from 'vitest';
import type { AlertGroup, SemanticLoopEvent, SessionView } from '#contracts';
import { orderAlertRows } from '../features/session-clusters/alert-rows';
import {
  groupSemanticLoops,
  SEMANTIC_ALERT_OVER_AFTER_MS,
} from '../features/session-clusters/semantic-alerts';
import { unattendedLoopCount } from './unattended-loops';

const LOOPED_AT = 50;
const session = (severity: string, state = 'active', ended = false) =>
  ({ severity, ended, last_seen_ms: 1, control: { state, since_ms: null } }) as unknown as SessionView;
const reworded = (...ids: string[]) =>
  groupSemanticLoops(
    ids.map(
      (session_id) =>
        ({
          session_id,
          agent_id: 'a',
          action: 'alerted',
          at_ms: LOOPED_AT,
          occurrence: 2,
        }) as SemanticLoopEvent,
    ),
  );
const NOBODY = reworded();

describe('the loops that nobody has stopped', () => {
  it('are those of either detector, each session once', () => {
    const sessions = new Map([
      ['steps', session('loop')],
      ['prompts', session('normal')],
      ['both', session('loop')],
      ['calm', session('normal')],
    ]);
    expect(unattendedLoopCount(sessions, NOBODY, 60)).toBe(2);
    expect(unattendedLoopCount(sessions, reworded('prompts', 'both', 'not-listed'), 60)).toBe(4);
  });

  it('are no more those that are stopped, or over', () => {
    const sessions = new Map([
      ['stopped', session('loop', 'pause_requested')],
      ['ended', session('loop', 'active', true)],
      ['prompts', session('normal', 'paused')],
      ['gone', session('normal', 'active', true)],
      ['silent', session('normal')],
    ]);
    const semantic = reworded('prompts', 'gone', 'silent');
    expect(unattendedLoopCount(sessions, semantic, LOOPED_AT + SEMANTIC_ALERT_OVER_AFTER_MS - 1)).toBe(1);
    expect(unattendedLoopCount(sessions, semantic, LOOPED_AT + SEMANTIC_ALERT_OVER_AFTER_MS)).toBe(0);
  });

  it('are as many as there are rows of running sessions in the alerts panel', () => {
    const sessions = new Map([
      ['steps', session('loop')],
      ['prompts', session('normal')],
      ['stopped', session('loop', 'paused')],
    ]);
    const semantic = reworded('steps', 'prompts');
    const group = (session_id: string) => ({ session_id, first_at_ms: 1, last_at_ms: 1 }) as AlertGroup;
    const groups = new Map(['steps', 'stopped'].map((id) => [id, group(id)]));
    const rows = orderAlertRows(groups, semantic, sessions, 60);
    const running = rows.filter(({ session_id }) => sessions.get(session_id)?.control.state === 'active');
    expect(unattendedLoopCount(sessions, semantic, 60)).toBe(running.length);
  });
});
