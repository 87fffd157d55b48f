import { describe, expect, it } from 'vitest';
import {
  type AlertGroup,
  SEMANTIC_ALERT_OVER_AFTER_MS,
  type SemanticLoopEvent,
  type SessionView,
} from '#contracts';
import { buildStoppedAgent } from '../features/agents/agent.fixture';
import { orderAlertRows } from '../features/session-clusters/alert-rows';
import { buildPolicies } from '../features/session-clusters/policies.fixture';
import { restOf } from '../features/session-clusters/rest';
import { groupSemanticLoops } from '../features/session-clusters/semantic-alerts';
import { loopsNow } from './loops-now';

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
          prompt: 'Is seven a number?',
          similar_prompt: 'Is 7 a number?',
        }) as SemanticLoopEvent,
    ),
  );
const POLICIES = buildPolicies([buildStoppedAgent('off', 'ana', LOOPED_AT)]);
const NOBODY = reworded();

describe('what loops now', () => {
  it('is what either detector found, each session once', () => {
    const sessions = new Map([
      ['steps', session('loop')],
      ['prompts', session('normal')],
      ['both', session('loop')],
      ['calm', session('normal')],
    ]);
    expect(loopsNow(sessions, NOBODY, POLICIES, 60).size).toBe(2);
    expect(loopsNow(sessions, reworded('prompts', 'both', 'not-listed'), POLICIES, 60).size).toBe(4);
  });

  it('is no session that is stopped, silent or over, nor one of a stopped agent', () => {
    const sessions = new Map([
      ['stopped', session('loop', 'pause_requested')],
      ['agent off', { ...session('loop'), agent_id: 'off' }],
      ['loop silent', { ...session('loop'), state: 'idle' as const }],
      ['ended', session('loop', 'active', true)],
      ['prompts', session('normal', 'paused')],
      ['gone', session('normal', 'active', true)],
      ['silent', session('normal')],
    ]);
    const semantic = reworded('prompts', 'gone', 'silent');
    expect(loopsNow(sessions, semantic, POLICIES, LOOPED_AT + SEMANTIC_ALERT_OVER_AFTER_MS - 1).size).toBe(1);
    expect(loopsNow(sessions, semantic, POLICIES, LOOPED_AT + SEMANTIC_ALERT_OVER_AFTER_MS).size).toBe(0);
  });

  it('is as much as there are rows of burning sessions in the alerts panel', () => {
    const sessions = new Map([
      ['steps', session('loop')],
      ['prompts', session('normal')],
      ['stopped', session('loop', 'paused')],
      ['off', { ...session('loop'), agent_id: 'off' }],
    ]);
    const semantic = reworded('steps', 'prompts');
    const group = (session_id: string) => ({ session_id, first_at_ms: 1, last_at_ms: 1 }) as AlertGroup;
    const groups = new Map(['steps', 'stopped', 'off'].map((id) => [id, group(id)]));
    const rows = orderAlertRows(groups, semantic, sessions, POLICIES, 60);
    const burning = rows.filter(({ session_id }) => restOf(sessions.get(session_id), POLICIES) === null);
    expect(loopsNow(sessions, semantic, POLICIES, 60).size).toBe(burning.length);
  });
});
