/** What a session's row shows beyond its published steps: who controls it, and that it is there before any is. */
import {
  CONTROL_MODES,
  type ControlMode,
  type ControlView,
  type DecisionLog,
  type LlmCall,
  PROXY_SOURCE,
  type SessionView,
} from '#contracts';
import { applyStep, type SummarisedStep } from '#domain/decision-log';

/**
 * Changes `view` in place. What its agent has once shown to obey stays, and who let it go on: who commands forgets both with
 * a restart and in a quiet hour, the one until the agent shows it again, the other until the next command.
 */
export function showControl(view: SessionView, control: ControlView): void {
  const before = view.control;
  const { operator_id, reason, since_ms } = isForgotten(control, before) ? before : control;
  const mode = strongerMode(control.mode, before.mode);
  view.control = { ...control, operator_id, reason, since_ms, mode };
  if (control.state !== 'terminated') return;
  view.ended = true;
  view.state = 'dead';
}

/** Active as if always, though the row tells of somebody who made it so. */
const isForgotten = (control: ControlView, before: ControlView): boolean =>
  control.state === 'active' && control.since_ms === null && before.state === 'active';

/** They stand in the order of what a pause is worth. */
const strongerMode = (a: ControlMode, b: ControlMode): ControlMode =>
  CONTROL_MODES.indexOf(a) < CONTROL_MODES.indexOf(b) ? a : b;

/** @param b may lack members, where an earlier version saved it */
export const isSameControl = (a: ControlView, b: ControlView): boolean =>
  (Object.keys(a) as (keyof ControlView)[]).every(
    (name) => a[name] === b[name] || JSON.stringify(a[name]) === JSON.stringify(b[name]),
  );

/** What a row takes from a call. */
export type CallOfSession = Pick<LlmCall, 'agent_id' | 'session_id' | 'call_id'>;

/** Of a session that holds its first step; what a proxied call cost is known all the same. */
export function rowShowingNothing(step: SummarisedStep): SessionView {
  const isProxied = step.log.meta.source_app === PROXY_SOURCE;
  return {
    ...applyStep(undefined, step, []),
    last_intent: '',
    last_tool: '',
    step_count: 0,
    steps_per_minute: 0,
    failure_count: 0,
    ...(!isProxied && { cost_usd: 0, cost_unknown: true }),
    tokens: 0,
  };
}

/**
 * Of a session that is known by a call alone: one that asks the same again, makes no step, or lost it with its process.
 *
 * @param costUsd null: nobody knows
 */
export const rowOfCall = (
  { agent_id, session_id, call_id }: CallOfSession,
  atMs: number,
  costUsd: number | null,
): SessionView =>
  rowShowingNothing(
    unscored(
      {
        meta: { trace_id: call_id, source_app: PROXY_SOURCE },
        identity: { agent_id, agent_type: 'proxied' },
        cognition: { intent: '' },
        action: { status: 'success' },
        ...(costUsd !== null && { state_delta: { cumulative_session_cost: costUsd } }),
      } as DecisionLog,
      session_id,
      atMs,
    ),
  );

/** Of a session whose first step waits for its answer, or what its tools come back with: what it is about is known. */
export function rowOfWaiting(log: DecisionLog, session_id: string, atMs: number): SessionView {
  const step = unscored(log, session_id, atMs);
  const { last_intent, last_tool } = applyStep(undefined, step, []);
  return { ...rowShowingNothing(step), last_intent, last_tool };
}

/**
 * Changes `view` in place, as long as no step is in it: what is known of its first one by now.
 * @param waiting its row, were there none
 * @returns whether it shows it
 */
export function showWaiting(view: SessionView, waiting: SessionView): boolean {
  if (view.step_count > 0 || view.control.held_count > 0) return false;
  const { last_intent, last_tool, last_status, last_trace_id, model_name, cost_usd, cost_unknown } = waiting;
  Object.assign(view, { last_intent, last_tool, last_status, last_trace_id, model_name });
  showCost(view, { cost_usd, cost_unknown });
  return true;
}

/**
 * Changes `view` in place, as long as no step is in it: what it cost is known though its first step is held, and waits for no tool any more.
 * @param held its row, were there none
 * @returns whether it shows it
 */
export function showHeld(view: SessionView, held: SessionView): boolean {
  if (view.step_count > 0) return false;
  view.last_tool = '';
  showCost(view, held);
  return true;
}

function showCost(
  view: SessionView,
  { cost_usd, cost_unknown }: Pick<SessionView, 'cost_usd' | 'cost_unknown'>,
) {
  view.cost_usd = Math.max(view.cost_usd, cost_usd);
  view.cost_unknown ||= cost_unknown;
}

/**
 * Changes `view` in place: of a process that died, no first step waits for its answer or its tool any more. What its agent calls next
 * begins a new one.
 * @returns whether it waited
 */
export function forgetWaiting(view: SessionView): boolean {
  if (view.step_count > 0 || (view.last_tool === '' && view.last_status !== 'pending')) return false;
  view.last_tool = '';
  view.last_status = 'success';
  return true;
}

/**
 * Changes `view` in place: the call that began it is over. A step that waits for its tool goes on to.
 * @returns whether its answer was waited for
 */
export function forgetAnswer(view: SessionView, callId: string): boolean {
  const { step_count, last_tool, last_status, last_trace_id } = view;
  if (step_count > 0 || last_tool !== '' || last_status !== 'pending' || last_trace_id !== callId)
    return false;
  view.last_status = 'success';
  return true;
}

const unscored = (log: DecisionLog, session_id: string, received_at_ms: number): SummarisedStep => ({
  session_id,
  trace_id: log.meta.trace_id,
  received_at_ms,
  entropy_score: 1,
  entropy_severity: 'normal',
  log,
});
