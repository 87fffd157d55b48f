import { describe, expect, it } from 'vitest';
import { LIMITS, type RaisedAlert } from '#contracts';
import { entropyAlertsMerge } from './entropy-alerts';

const alert = (session_id: string, at_ms: number, more: Partial<RaisedAlert> = {}): RaisedAlert => ({
  event_type: 'entropy_alert',
  session_id,
  agent_id: 'agent',
  entropy_score: 0.2,
  window_size: 5,
  repeated_pattern: { intent: 'search', tool_call: 'list_files', action_status: 'failure' },
  occurrence_count: 5,
  at_ms,
  alert_count: 1,
  first_at_ms: at_ms,
  ...more,
});

describe('entropyAlertsMerge', () => {
  it('[FR-9.10-] shows a session once however many alerts arrive for it', () => {
    const latest = alert('a', 5_000, { occurrence_count: 4, alert_count: 3, first_at_ms: 1 });
    const second = alert('a', 2, { alert_count: 2, first_at_ms: 1 });
    const data = entropyAlertsMerge.apply(new Map(), [alert('a', 1), second, latest]);
    expect([...data.values()]).toEqual([
      {
        session_id: 'a',
        agent_id: 'agent',
        alert_count: 3,
        first_at_ms: 1,
        last_at_ms: 5_000,
        latest,
      },
    ]);
  });

  it('has it begin anew where its alert does, though the page was open when it looped before', () => {
    const before = alert('a', 9, { alert_count: 7, first_at_ms: 1 });
    const { session_id, agent_id, alert_count, first_at_ms } = before;
    const group = { session_id, agent_id, alert_count, first_at_ms, last_at_ms: 9, latest: before };
    const data = entropyAlertsMerge.apply(entropyAlertsMerge.start([group]), [alert('a', 5_000)]);
    expect(data.get('a')).toMatchObject({ alert_count: 1, first_at_ms: 5_000, last_at_ms: 5_000 });
  });

  it('forgets the alerts that are longest over, however long the page stays open', () => {
    let data = entropyAlertsMerge.start([]);
    const { listedSessionsMax } = LIMITS;
    for (let at = 0; at < 2 * listedSessionsMax; at += 100)
      data = entropyAlertsMerge.apply(
        data,
        Array.from({ length: 100 }, (_, more) => alert(`s-${at + more}`, at + more)),
      );
    expect(data.size).toBeLessThanOrEqual(1.1 * listedSessionsMax);
    expect(data.has('s-0')).toBe(false);
    expect(data.has(`s-${2 * listedSessionsMax - 1}`)).toBe(true);
  });
});
