/** The alert event: how it is built, and the check that none leaves with a part missing. @see FR-9.7 */
import { ACTION_STATUSES, type EntropyAlertEvent } from '#contracts';
import type { RepeatedTuple } from './entropy-score.js';

export function entropyAlertOf(
  session: { sessionId: string; agentId: string },
  scored: { score: number; windowSize: number; repeated: RepeatedTuple },
  atMs: number,
): EntropyAlertEvent {
  return {
    event_type: 'entropy_alert',
    session_id: session.sessionId,
    agent_id: session.agentId,
    entropy_score: scored.score,
    window_size: scored.windowSize,
    repeated_pattern: scored.repeated.tuple,
    occurrence_count: scored.repeated.count,
    at_ms: atMs,
  };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;

/**
 * First field that is absent or of the wrong type, as a path; null for a complete event. Takes nothing on trust:
 * it is the last thing before an event leaves. `tool_call` may be "", a session or agent id may not.
 */
export function findMissingAlertField(event: Partial<EntropyAlertEvent>): string | null {
  if (event.event_type !== 'entropy_alert') return 'event_type';
  if (!isText(event.session_id) || event.session_id === '') return 'session_id';
  if (!isText(event.agent_id) || event.agent_id === '') return 'agent_id';
  if (!Number.isFinite(event.entropy_score)) return 'entropy_score';
  if (!isCount(event.window_size)) return 'window_size';
  const pattern = event.repeated_pattern;
  if (typeof pattern !== 'object' || pattern === null) return 'repeated_pattern';
  if (!isText(pattern.intent)) return 'repeated_pattern.intent';
  if (!isText(pattern.tool_call)) return 'repeated_pattern.tool_call';
  if (!ACTION_STATUSES.includes(pattern.action_status)) return 'repeated_pattern.action_status';
  if (!isCount(event.occurrence_count)) return 'occurrence_count';
  return Number.isFinite(event.at_ms) ? null : 'at_ms';
}
