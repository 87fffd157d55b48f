/**
 * A session as its row in the list: a fold over its steps. Knows neither the store nor control, which whoever runs
 * the fold writes into `control`.
 */
import {
  type ControlView,
  type EntropyTuple,
  type NodeState,
  PROXY_SOURCE,
  type SessionView,
  type Severity,
  type StoredStep,
} from '#contracts';
import { wholeEnd } from '#kernel';

/** What the fold reads of a step; a step not yet stored will do. */
export type SummarisedStep = Pick<
  StoredStep,
  'session_id' | 'received_at_ms' | 'entropy_score' | 'entropy_severity' | 'trace_id' | 'log'
>;

const TEXT_CHARS_MAX = 120;
const RATE_WINDOW_MS = 60_000;

const STATE_OF_SEVERITY: Record<Severity, NodeState> = {
  normal: 'active',
  warning: 'blocked',
  loop: 'alert_entropy',
};

/** Of a session nobody ever commanded. */
export const initialControl = (): ControlView => ({
  state: 'active',
  mode: 'observe_only',
  operator_id: null,
  reason: null,
  asked_by: [],
  since_ms: null,
  expires_at_ms: null,
  held_count: 0,
  pending_directive_count: 0,
});

/**
 * Folds one more step in. **Changes `view` in place and returns it**: this runs once per message, and a row is some
 * twenty fields. Without a view it starts one.
 *
 * @param window the tracker's tuples after this step, oldest first
 */
export function applyStep(
  view: SessionView | undefined,
  step: SummarisedStep,
  window: readonly EntropyTuple[],
): SessionView {
  const { meta, identity, cognition, action, state_delta, control } = step.log;
  const next = view ?? startOf(step);
  next.agent_id = identity.agent_id;
  next.agent_type = identity.agent_type;
  next.model_name = identity.model_name || next.model_name;
  next.cluster_id = meta.cluster_id || next.cluster_id;
  const wasProxied = next.source_app === PROXY_SOURCE;
  // Who names no application is not the proxy, and goes on as its own otherwise.
  next.source_app = meta.source_app || (wasProxied ? '' : next.source_app);
  next.severity = step.entropy_severity;
  next.entropy_score = step.entropy_score;
  next.window = cutTuples(window);
  next.last_intent = cutText(cognition.intent);
  next.last_tool = cutText(action.tool_call ?? '');
  next.last_status = action.status;
  next.last_trace_id = step.trace_id;
  next.cost_unknown = isCostUnknownAfter(next, step, wasProxied);
  next.step_count += 1;
  next.failure_count += action.status === 'failure' ? 1 : 0;
  next.tokens += state_delta?.tokens_consumed ?? 0;
  // Cumulative already; steps may arrive out of order, so the largest is the latest.
  next.cost_usd = Math.max(next.cost_usd, state_delta?.cumulative_session_cost ?? 0);
  next.steps_per_minute = fadedRate(next, step.received_at_ms) + 1;
  next.last_seen_ms = Math.max(next.last_seen_ms, step.received_at_ms);
  const isOver = control?.is_terminal === true || next.control.state === 'terminated';
  // A straggler changes nothing; but what goes round in circles has not ended, and somebody must be able to stop it.
  next.ended = isOver || (next.ended && step.entropy_severity !== 'loop');
  next.state = next.ended ? 'dead' : STATE_OF_SEVERITY[step.entropy_severity];
  return next;
}

/** What a proxied call took that makes no step. */
export interface CallUse {
  /** In USD; below 0 where so much of what was counted is taken back. Null: unknown. */
  costUsd: number | null;
  /** Of the session so far, known costs only. */
  sessionCostUsd: number;
  tokens: number;
}

/** Folds a call without a step in. **Changes `view` in place.** */
export function applyUse(view: SessionView, use: CallUse, atMs: number): void {
  const { costUsd, sessionCostUsd, tokens } = use;
  view.tokens += tokens;
  if (costUsd === null) view.cost_unknown = true;
  // As with steps the largest sum is the latest; but what is taken back makes it smaller.
  else if (costUsd < 0) view.cost_usd = Math.max(0, view.cost_usd + costUsd);
  else view.cost_usd = Math.max(view.cost_usd, sessionCostUsd);
  view.steps_per_minute = fadedRate(view, atMs);
  view.last_seen_ms = Math.max(view.last_seen_ms, atMs);
  if (view.state === 'idle') view.state = STATE_OF_SEVERITY[view.severity];
}

function startOf(step: SummarisedStep): SessionView {
  const { meta, identity, cognition, action } = step.log;
  return {
    session_id: step.session_id,
    agent_id: identity.agent_id,
    agent_type: identity.agent_type,
    model_name: '',
    cluster_id: '',
    source_app: '',
    state: 'active',
    severity: 'normal',
    entropy_score: 1,
    window: [],
    last_intent: cutText(cognition.intent),
    last_tool: '',
    last_status: action.status,
    last_trace_id: step.trace_id,
    step_count: 0,
    failure_count: 0,
    steps_per_minute: 0,
    cost_usd: 0,
    cost_unknown: meta.source_app !== PROXY_SOURCE,
    tokens: 0,
    started_ms: step.received_at_ms,
    last_seen_ms: step.received_at_ms,
    refused_call: null,
    ended: false,
    control: initialControl(),
  };
}

/**
 * What an agent says of its cost stands for all it did so far; until it says so again, tokens make it unknown, and so does its
 * first step behind the proxy's, which counts its calls no more. The proxy knows from the first call on, and says what it could
 * price: a call that it could not stays unknown.
 */
function isCostUnknownAfter(view: SessionView, { log }: SummarisedStep, wasProxied: boolean): boolean {
  const isTold = typeof log.state_delta?.cumulative_session_cost === 'number';
  if (log.meta.source_app === PROXY_SOURCE) return !isTold || view.cost_unknown;
  return !isTold && (view.cost_unknown || wasProxied || (log.state_delta?.tokens_consumed ?? 0) > 0);
}

/**
 * Steps in the minute up to this moment, without remembering their times: what was counted so far fades by the share of
 * a minute that passed. Exact for a burst, for an even rate, and after a silent minute; in between an estimate.
 */
function fadedRate(view: SessionView, atMs: number): number {
  const passedMs = Math.max(0, atMs - view.last_seen_ms);
  return view.steps_per_minute * Math.max(0, 1 - passedMs / RATE_WINDOW_MS);
}

/** The same list where nothing is to be cut; nobody writes to either. */
const cutTuples = (tuples: readonly EntropyTuple[]): EntropyTuple[] =>
  tuples.some(({ intent, tool_call }) => intent.length > TEXT_CHARS_MAX || tool_call.length > TEXT_CHARS_MAX)
    ? tuples.map(({ intent, tool_call, action_status }) => ({
        intent: cutText(intent),
        tool_call: cutText(tool_call),
        action_status,
      }))
    : (tuples as EntropyTuple[]);

/** At most 120 characters, no half of a surrogate pair at the end. */
function cutText(text: string): string {
  if (text.length <= TEXT_CHARS_MAX) return text;
  // Through a buffer, since a plain slice would keep the long text alive behind the short one.
  return Buffer.from(`${text.slice(0, wholeEnd(text, TEXT_CHARS_MAX - 1))}…`).toString();
}
