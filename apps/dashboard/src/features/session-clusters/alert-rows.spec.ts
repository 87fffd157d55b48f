import { describe, expect, it } from 'vitest';
import type { AlertGroup, SemanticLoopEvent, SessionView } from '#contracts';
import { type AlertRowData, allAlertRows, orderAlertRows } from './alert-rows';
import { NO_POLICIES } from './rest';
import { groupSemanticLoops } from './semantic-alerts';

const group = (session_id: string) => ({ session_id, first_at_ms: 1, last_at_ms: 1 }) as AlertGroup;
const loop = (session_id: string) =>
  ({
    session_id,
    agent_id: 'a',
    action: 'alerted',
    at_ms: 50,
    occurrence: 2,
    prompt: 'Is seven a number?',
    similar_prompt: 'Is 7 a number?',
  }) as SemanticLoopEvent;
const session = (state: string) =>
  ({ severity: 'loop', ended: false, last_seen_ms: 1, control: { state, since_ms: 60 } }) as SessionView;
const kinds = (rows: Iterable<AlertRowData>) =>
  [...rows].map(({ session_id, kind }) => `${kind} ${session_id}`);

const groups = new Map(['looping', 'held', 'both'].map((id) => [id, group(id)]));
const alerts = groupSemanticLoops([loop('rewording'), loop('held-rewording'), loop('both')]);
const sessions = new Map([
  ['held', session('paused')],
  ['held-rewording', session('pause_requested')],
]);

describe('orderAlertRows', () => {
  it('puts what burns before what is stopped or silent, whichever detector raised it', () => {
    expect(kinds(orderAlertRows(groups, alerts, sessions, NO_POLICIES, 70))).toEqual([
      'entropy both',
      'entropy looping',
      'semantic rewording',
      'entropy held',
      'semantic held-rewording',
    ]);
  });

  it('lets a silent session sink below one that loops, however late its loop began', () => {
    const late = new Map(groups).set('silent', { ...group('silent'), first_at_ms: 9 });
    const silent = { ...session('active'), state: 'idle' } as SessionView;
    const rows = orderAlertRows(late, new Map(), new Map([['silent', silent]]), NO_POLICIES, 70);
    expect(kinds(rows).at(-1)).toBe('entropy silent');
  });

  it('shows a session once, and says of an entropy alert how its prompts repeat, too', () => {
    const rows = orderAlertRows(groups, alerts, sessions, NO_POLICIES, 70);
    expect(rows.filter(({ session_id }) => session_id === 'both')).toMatchObject([
      { kind: 'entropy', repeat: 'other_words' },
    ]);
    expect(rows.find(({ session_id }) => session_id === 'looping')).toMatchObject({ repeat: null });
  });
});

describe('allAlertRows', () => {
  it('has a row of every session, as it is shown where it is', () => {
    const [semantic] = orderAlertRows(
      new Map(),
      groupSemanticLoops([loop('both')]),
      sessions,
      NO_POLICIES,
      70,
    );
    const rows = allAlertRows(groups, alerts, semantic ? [semantic] : []);
    expect(kinds(rows.values()).sort()).toEqual([
      'entropy held',
      'entropy looping',
      'semantic both',
      'semantic held-rewording',
      'semantic rewording',
    ]);
  });
});
