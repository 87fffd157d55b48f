/**
 * A recorded trace as DecisionLogs: one session per trace, one log per step. Built member by member from what the
 * agent did and saw; `label` is never looked at here, so no judgement can reach the server. Pure: the clock comes in.
 *
 * The schema of a trace is in the data's own README (`data/loops`): trace_id, source, steps[{i, actor, intent,
 * intent_class, tool_call {name, args} | null, status, observation_text}], label.
 */
import { createHash } from 'node:crypto';

/** @typedef {import('#contracts').DecisionLog} DecisionLog */
/**
 * @typedef {{ i?: number, actor?: string, intent?: string, intent_class?: string, status?: string,
 *   tool_call?: { name: string, args?: unknown } | null, observation_text?: string }} RecordedStep
 */
/** @typedef {{ trace_id: string, source?: string, steps: RecordedStep[], label?: Record<string, unknown> }} RecordedTrace */
/** @typedef {'class' | 'text'} IntentKind */

/** The contract's limits (libs/contracts/src/limits.ts); a spec holds them equal. */
export const idCharsMax = 256;
export const lineCharsMax = 4_096;
export const textCharsMax = 65_536;

/** What a step is said to mean where its recording says nothing: half of all steps have no free text. */
export const intentNotStated = '(intent not stated)';

/**
 * `unknown` becomes `pending`: the recording does not say how the step went, and `success` would be a claim. It also
 * keeps the three recorded states three, so that entropy compares tuples exactly as the recording has them.
 *
 * @type {Record<string, DecisionLog['action']['status']>}
 */
const statuses = { ok: 'success', error: 'failure', unknown: 'pending' };

/**
 * @param {unknown} value a parsed line
 * @returns {string | null} what is wrong with it as a trace; null = nothing
 */
export function findFault(value) {
  const trace = /** @type {any} */ (value);
  if (trace === null || typeof trace !== 'object' || Array.isArray(trace)) return 'not a JSON object';
  if (typeof trace.trace_id !== 'string' || trace.trace_id === '') return 'trace_id is missing';
  if (!Array.isArray(trace.steps) || trace.steps.length === 0) return 'steps is missing or empty';
  for (const [at, step] of trace.steps.entries()) {
    if (step === null || typeof step !== 'object') return `steps[${at}] is not an object`;
    const { tool_call: call } = step;
    if (call !== null && call !== undefined && typeof call.name !== 'string')
      return `steps[${at}].tool_call has no name`;
  }
  return null;
}

/**
 * Cuts to `charsMax` with a hash of the whole in place of the end, so that what differed stays different.
 *
 * @param {string} text
 * @param {number} charsMax at least 20
 */
function cutKeepingDifference(text, charsMax) {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax - 13)}~${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/**
 * @param {string} text
 * @param {number} charsMax
 */
function cut(text, charsMax) {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}

/**
 * The trace's id as a session id that can stand in a path: what is neither letter, digit, `.`, `_` nor `-` becomes `-`.
 *
 * @param {string} traceId
 * @param {string} run "" or a name that keeps two replays of one file apart
 * @returns {string} 1..256 characters
 */
export function sessionIdOf(traceId, run = '') {
  const safe = traceId.replace(/[^A-Za-z0-9._-]+/g, '-') || '-';
  return cutKeepingDifference(run ? `${safe}.${run}` : safe, idCharsMax);
}

/**
 * @param {unknown} args
 * @returns {DecisionLog['action']['tool_input']} an object as it is, anything else as JSON text; undefined for none
 */
function toolInputOf(args) {
  if (args === undefined || args === null) return undefined;
  const text = JSON.stringify(args);
  if (text.length > textCharsMax) return cut(text, textCharsMax);
  return typeof args === 'object' && !Array.isArray(args)
    ? /** @type {Record<string, unknown>} */ (args)
    : text;
}

/**
 * One recorded step as the DecisionLog that its agent would have sent, stamped with `now`.
 *
 * @param {RecordedTrace} trace
 * @param {number} at index into `trace.steps`
 * @param {{ intent?: IntentKind, run?: string, now?: Date }} [options]
 * @returns {DecisionLog}
 */
export function decisionLogOf(trace, at, { intent = 'class', run = '', now = new Date() } = {}) {
  const { trace_id, source = 'unknown', steps } = trace;
  const step = /** @type {RecordedStep} */ (steps[at]);
  const stated = step.intent?.trim() ?? '';
  const chosen = intent === 'text' ? stated : (step.intent_class ?? '');
  const input = toolInputOf(step.tool_call?.args);
  const stepId = (/** @type {number} */ index) =>
    cutKeepingDifference(`${trace_id}${run ? `.${run}` : ''}#${steps[index]?.i ?? index}`, idCharsMax);
  return {
    meta: {
      trace_id: stepId(at),
      timestamp: now.toISOString(),
      session_id: sessionIdOf(trace_id, run),
      parent_step_id: at === 0 ? null : stepId(at - 1),
      cluster_id: cutKeepingDifference(source, idCharsMax),
      source_app: 'replay',
    },
    identity: {
      agent_id: cutKeepingDifference(`${source}.${step.actor ?? 'agent'}`, idCharsMax),
      agent_type: cutKeepingDifference(source || 'unknown', idCharsMax),
      capability_version: '1.0.0',
    },
    cognition: {
      intent: cut(chosen || intentNotStated, lineCharsMax),
      ...(stated ? { reasoning_chain: [cut(stated, textCharsMax)] } : {}),
    },
    action: {
      status: statuses[step.status ?? 'unknown'] ?? 'pending',
      ...(step.tool_call ? { tool_call: cut(step.tool_call.name, lineCharsMax) } : {}),
      ...(input === undefined ? {} : { tool_input: input }),
      ...(step.observation_text ? { tool_output_summary: cut(step.observation_text, textCharsMax) } : {}),
    },
    control: { is_terminal: at === steps.length - 1 },
  };
}
