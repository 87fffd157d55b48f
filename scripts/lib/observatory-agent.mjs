/**
 * A cooperative agent's side of Observatory in one file with nothing but Node's own fetch: copy it, or read it as
 * the protocol. It posts DecisionLogs, hears control in every answer, waits out a pause by long poll and hands each
 * directive on exactly once. It never decides what a directive means to the agent: that is `onDirective`.
 *
 *     const agent = new ObservatoryAgent({ key, agent_id: 'support-1', agent_type: 'support_bot' });
 *     await agent.step({ cognition: { intent: 'find_order' }, action: { status: 'success', tool_call: 'crm.find' } });
 *     await agent.waitWhilePaused();
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {import('#contracts').AcceptedAnswer} AcceptedAnswer */
/** @typedef {import('#contracts').RejectedAnswer} RejectedAnswer */
/** @typedef {import('#contracts').AgentControl} AgentControl */
/** @typedef {import('#contracts').Directive} Directive */
/** @typedef {import('#contracts').DecisionLog} DecisionLog */
/**
 * What a step must say; `meta` and `identity` are filled in by the agent and may be overridden member by member.
 *
 * @typedef {{
 *   meta?: Partial<DecisionLog['meta']>, identity?: Partial<DecisionLog['identity']>,
 *   cognition: DecisionLog['cognition'], action: DecisionLog['action'],
 *   state_delta?: DecisionLog['state_delta'], control?: DecisionLog['control'],
 * }} Step
 */
/** @typedef {{ reason: string, status: number | null, waitMs: number, attempt: number }} Retry */
/** @typedef {{ url: string, key: string, attemptsMax?: number, signal?: AbortSignal | undefined, onRetry?: (retry: Retry) => void }} Target */

export const DEFAULT_URL = 'http://127.0.0.1:4000';

const backoffFirstMs = 250;
const backoffMs = 10_000;
const retryAfterMsMax = 60_000;
const requestTimeoutMs = 30_000;
const pollWaitSeconds = 55;
const pollPauseMs = 200;
/** Directives remembered so that a repeat is told from a new one; more than can ever wait for one session. */
const directivesRememberedMax = 1_000;

/** The server could not be reached, or refused in a way that sending again does not mend. */
export class AgentClientError extends Error {
  /** @override */
  name = 'AgentClientError';

  /**
   * @param {string} message
   * @param {{ status?: number | null, reason?: string, cause?: unknown }} [details] `status` null: no answer at all
   */
  constructor(message, { status = null, reason = 'unreachable', cause } = {}) {
    super(message, { cause });
    this.status = status;
    this.reason = reason;
  }
}

/**
 * How long to wait before the next attempt: what `Retry-After` says (seconds or a date), at most a minute, else
 * exponential backoff with jitter.
 *
 * @param {string | null} retryAfter
 * @param {number} attempt 1 = the first retry
 * @param {number} [nowMs]
 * @returns {number} milliseconds
 */
export function retryWaitMs(retryAfter, attempt, nowMs = Date.now()) {
  if (retryAfter) {
    const seconds = Number(retryAfter);
    const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - nowMs;
    if (Number.isFinite(waitMs)) return Math.min(Math.max(waitMs, 0), retryAfterMsMax);
  }
  return Math.min(backoffFirstMs * 2 ** (attempt - 1), backoffMs) * (0.75 + Math.random() / 2);
}

/**
 * One request, sent again after 429, 5xx and broken connections: safe, because a step that arrives twice counts once.
 * Aborting `signal` rejects with its reason at once.
 *
 * @param {Target} target
 * @param {{ method?: string, path: string, body?: string, contentType?: string, timeoutMs?: number }} request
 * @returns {Promise<{ status: number, body: any, latencyMs: number }>} latency of the attempt that was answered
 */
export async function send(
  target,
  { method = 'POST', path, body, contentType = 'application/json', timeoutMs },
) {
  const { key, attemptsMax = 8, signal, onRetry } = target;
  const address = new URL(path, target.url);
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const attemptSignal = openAttempt(signal, timeoutMs ?? requestTimeoutMs);
    /** @type {Response | null} */
    let response = null;
    let text = '';
    /** @type {unknown} */
    let failure = null;
    try {
      response = await fetch(address, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
        ...(body === undefined ? {} : { body }),
        signal: attemptSignal.signal,
      });
      text = await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      failure = error;
    } finally {
      attemptSignal.close();
    }
    if (response && !failure && response.status !== 429 && response.status < 500) {
      return { status: response.status, body: parseOrNull(text), latencyMs: performance.now() - startedAt };
    }
    const reason = failure ? describeFailure(failure) : `HTTP ${response?.status}${describeBody(text)}`;
    const status = failure ? null : (response?.status ?? null);
    if (attempt >= attemptsMax) {
      throw new AgentClientError(`${address.origin}: ${reason} (after ${attempt} attempts)`, {
        status,
        reason: status === null ? 'unreachable' : 'overloaded',
        cause: failure,
      });
    }
    const waitMs = retryWaitMs(response?.headers.get('retry-after') ?? null, attempt);
    onRetry?.({ reason, status, waitMs, attempt });
    await sleep(waitMs, undefined, { signal });
  }
}

/**
 * A signal for one attempt: aborted with the outer one or after the time limit. By hand, because
 * AbortSignal.any keeps every attempt in memory for as long as the outer signal lives on older Nodes.
 *
 * @param {AbortSignal | undefined} outer
 * @param {number} timeoutMs
 */
function openAttempt(outer, timeoutMs) {
  const controller = new AbortController();
  const follow = () => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    close() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}

/** @param {string} text @returns {any} null where it is no JSON */
function parseOrNull(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {string} text */
function describeBody(text) {
  const body = parseOrNull(text);
  return typeof body?.reason === 'string' ? ` ${body.reason}` : '';
}

/** @param {unknown} failure @returns {string} fetch hides the system's own word (ECONNREFUSED) one or two causes down */
function describeFailure(failure) {
  const error = /** @type {any} */ (failure);
  const inner = error?.cause?.errors?.[0] ?? error?.cause;
  return String(inner?.code ?? inner?.message ?? error?.message ?? failure);
}

/** @param {string} what @param {{ status: number, body: any }} answer @returns {AgentClientError} */
export function refusal(what, { status, body }) {
  const detail = typeof body?.detail === 'string' ? body.detail : 'no explanation given';
  return new AgentClientError(`${what}: HTTP ${status} ${detail}`, {
    status,
    reason: body?.reason ?? 'refused',
  });
}

/** One session of one agent. A second agent of the same session posts through it with its own `identity`. */
export class ObservatoryAgent {
  /** @type {AgentControl['state']} as of the last answer */
  state = 'active';
  /** @type {string | null} the parent of the next step */
  lastTraceId = null;
  /** From the last step sent to its answer, retries before it left out. */
  lastLatencyMs = 0;
  /** @type {Set<(directive: Directive) => void>} */
  #handlers = new Set();
  /** @type {Set<string>} oldest first */
  #directiveIds = new Set();
  #cursor = 0;
  #hasAnnounced = false;

  /**
   * `isCooperative: false` for a client that will not obey: it then never asks for control, and operators are told that
   * this agent can only be observed.
   *
   * @param {{ url?: string, key: string, agent_id: string, agent_type: string, capability_version?: string,
   *   isCooperative?: boolean, model_name?: string, session_id?: string, source_app?: string, cluster_id?: string, attemptsMax?: number,
   *   signal?: AbortSignal | undefined, onRetry?: (retry: Retry) => void }} options
   */
  constructor({ url = DEFAULT_URL, key, agent_id, agent_type, capability_version = '1.0.0', ...options }) {
    const { session_id = randomUUID(), model_name, source_app, cluster_id } = options;
    this.session_id = session_id;
    this.#hasAnnounced = options.isCooperative === false;
    /** @type {Target} */
    this.target = {
      url,
      key,
      attemptsMax: options.attemptsMax ?? 8,
      signal: options.signal,
      ...(options.onRetry ? { onRetry: options.onRetry } : {}),
    };
    this.meta = { session_id, ...(source_app ? { source_app } : {}), ...(cluster_id ? { cluster_id } : {}) };
    this.identity = { agent_id, agent_type, capability_version, ...(model_name ? { model_name } : {}) };
  }

  get isTerminated() {
    return this.state === 'terminated';
  }

  /**
   * Posts one step; when this resolves with `accepted`, it is on the server's disk. The step's parent is the one
   * before it unless `meta.parent_step_id` says otherwise.
   *
   * @param {Step} step
   * @returns {Promise<AcceptedAnswer | RejectedAnswer>} rejects with AgentClientError for anything but 202 and 422
   */
  async step(step) {
    const log = {
      ...step,
      meta: {
        trace_id: randomUUID(),
        timestamp: new Date().toISOString(),
        parent_step_id: this.lastTraceId,
        ...this.meta,
        ...step.meta,
      },
      identity: { ...this.identity, ...step.identity },
    };
    const answer = await send(this.target, { path: '/v1/decision-logs', body: JSON.stringify(log) });
    this.lastLatencyMs = answer.latencyMs;
    if (answer.status === 422 && answer.body?.status === 'rejected') return answer.body;
    if (answer.status !== 202 || !answer.body?.control) throw refusal('The step was refused', answer);
    this.lastTraceId = log.meta.trace_id;
    this.hear(answer.body.control);
    await this.#announce();
    return answer.body;
  }

  /** Asks for control once, after the first step: from then on operators see that this agent can be paused. */
  async #announce() {
    if (this.#hasAnnounced) return;
    try {
      await this.poll(0);
      this.#hasAnnounced = true;
    } catch (error) {
      // The step is stored all the same; the next one tries again.
      if (!(error instanceof AgentClientError)) throw error;
    }
  }

  /**
   * @param {(directive: Directive) => void} handler called once per directive, in the order in which they were given
   * @returns {() => void} takes the handler away again
   */
  onDirective(handler) {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  /**
   * Returns at once unless the last answer said `paused`; else confirms the pause and waits for as long as it lasts.
   *
   * @returns {Promise<'active' | 'terminated'>} rejects with AgentClientError when the server stays away
   */
  async waitWhilePaused() {
    while (this.state === 'paused') {
      await this.acknowledge();
      const askedAt = performance.now();
      await this.poll(pollWaitSeconds);
      // A server that answers "paused" at once, again and again, must not be asked without a breath.
      const pauseMs = pollPauseMs - (performance.now() - askedAt);
      if (this.state === 'paused' && pauseMs > 0)
        await sleep(pauseMs, undefined, { signal: this.target.signal });
    }
    return this.isTerminated ? 'terminated' : 'active';
  }

  /**
   * Asks for control once: answers when there is something new, at the latest after `waitSeconds`.
   *
   * @param {number} waitSeconds 0..55
   * @returns {Promise<AgentControl['state']>}
   */
  async poll(waitSeconds) {
    const path = `/v1/sessions/${encodeURIComponent(this.session_id)}/control?wait_s=${waitSeconds}&after=${this.#cursor}`;
    const answer = await send(this.target, { method: 'GET', path, timeoutMs: (waitSeconds + 10) * 1000 });
    if (answer.status !== 200) throw refusal('The control poll was refused', answer);
    this.#cursor = Math.max(this.#cursor, answer.body.cursor);
    this.hear(answer.body);
    return this.state;
  }

  /** Tells the operator that what was given so far has arrived. @returns {Promise<void>} */
  async acknowledge() {
    const path = `/v1/sessions/${encodeURIComponent(this.session_id)}/control/ack`;
    const answer = await send(this.target, { path, body: JSON.stringify({ seq: this.#cursor }) });
    if (answer.status >= 400) throw refusal('The acknowledgement was refused', answer);
  }

  /** Takes control that came another way, such as in a batch. @param {AgentControl} control */
  hear(control) {
    this.state = control.state;
    for (const directive of control.directives) {
      this.#cursor = Math.max(this.#cursor, directive.seq);
      if (this.#directiveIds.has(directive.directive_id)) continue;
      this.#directiveIds.add(directive.directive_id);
      if (this.#directiveIds.size > directivesRememberedMax) {
        const [oldest] = this.#directiveIds;
        if (oldest !== undefined) this.#directiveIds.delete(oldest);
      }
      for (const handler of this.#handlers) handler(directive);
    }
  }
}
