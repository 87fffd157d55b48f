/** Which session a step belongs to. @see observatory.md, section 1 */
import type { DecisionLog } from '#contracts';

/**
 * `meta.session_id`; else the session of the parent step; else the step's own trace id, which makes it the root of a
 * session of its own. Empty texts count as absent. Never returns "".
 *
 * @param sessionOfStep session of a step of the same tenant, undefined for one never seen
 */
export function resolveSessionId(
  log: DecisionLog,
  sessionOfStep: (traceId: string) => string | undefined,
): string {
  const { session_id, parent_step_id, trace_id } = log.meta;
  return session_id || (parent_step_id && sessionOfStep(parent_step_id)) || trace_id;
}
