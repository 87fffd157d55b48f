/**
 * The replay itself: traces from a file, side by side but each in its own order, posted as their agents would have
 * posted them. A paused session waits without keeping others from running; what a directive asks for cannot be
 * followed by a recording, so only pause, resume and terminate are obeyed.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLines } from './json-lines.mjs';
import { ObservatoryAgent, refusal, send } from './observatory-agent.mjs';
import { decisionLogOf, findFault } from './replay-trace.mjs';
import { Slots } from './slots.mjs';

/** @typedef {import('./replay-trace.mjs').RecordedTrace} RecordedTrace */
/** @typedef {import('./replay-summary.mjs').ReplaySummary} ReplaySummary */
/** @typedef {import('#contracts').AcceptedAnswer} AcceptedAnswer */
/** @typedef {import('#contracts').RejectedAnswer} RejectedAnswer */
/**
 * @typedef {{
 *   file: string, url: string, key: string, concurrency: number, speed: number | null, limit: number,
 *   batch: boolean, ignoreControl: boolean, intent: 'class' | 'text', run: string,
 * }} ReplayOptions
 */

/** @typedef {{ trace: RecordedTrace, agent: ObservatoryAgent, at: number, accepted: number, alerted: boolean }} Session */

/** A recording has no times: this is what one step is taken to last at speed 1. */
const stepSeconds = 2;
/** Paused sessions that wait without a slot; beyond it a waiting one keeps its own. */
const waitingWithoutSlotMax = 1_000;
const batchLinesMax = 500;
const batchBytesMax = 4 * 1024 * 1024;

export class Replay {
  /** Read so far. */
  bytesRead = 0;
  traceCount = 0;
  /** Sessions with at least one loop so far. */
  alertedCount = 0;
  /** @type {Set<string>} session ids that wait for an operator */
  paused = new Set();
  #slots;
  #stop = new AbortController();
  /** @type {unknown} the first error that no retry mends */
  #fatal = null;

  /**
   * @param {ReplayOptions} options
   * @param {ReplaySummary} summary filled as the replay goes
   * @param {{ onNote?: (text: string) => void, signal: AbortSignal }} hooks `signal` stops it between two steps
   */
  constructor(options, summary, { onNote = () => {}, signal }) {
    this.options = options;
    this.summary = summary;
    this.onNote = onNote;
    this.#slots = new Slots(options.concurrency);
    // One listener per request and sleep in flight.
    setMaxListeners(0, this.#stop.signal);
    signal.addEventListener('abort', () => this.#stop.abort(signal.reason), { once: true });
  }

  /** @returns {Promise<void>} rejects when the server stays away or refuses the key, never for a stop by signal */
  async run() {
    /** @type {Set<Promise<void>>} */
    const tasks = new Set();
    for await (const group of this.#groups()) {
      await this.#slots.acquire();
      if (this.#stopped) break;
      const task = this.#replayGroup(group).finally(() => {
        this.#slots.release();
        tasks.delete(task);
      });
      tasks.add(task);
    }
    await Promise.all(tasks);
    if (this.#fatal) throw this.#fatal;
  }

  /**
   * What is through of what was read, for the progress bar: a few traces are all read before the first is posted.
   *
   * @param {number} fileBytes
   * @returns {number} 0..1
   */
  doneFraction(fileBytes) {
    const readFraction = Math.max(
      this.bytesRead / Math.max(1, fileBytes),
      this.traceCount / this.options.limit,
    );
    return (readFraction * this.summary.all.sessions) / Math.max(1, this.traceCount);
  }

  get #stopped() {
    return this.#stop.signal.aborted;
  }

  /** @param {RecordedTrace[]} group @returns {Promise<void>} never rejects */
  async #replayGroup(group) {
    const sessions = group.map((trace) => this.#open(trace));
    try {
      if (this.options.batch) await this.#postBatches(sessions);
      else for (const session of sessions) await this.#postSteps(session);
    } catch (error) {
      if (!this.#stopped) {
        this.#fatal = error;
        this.#stop.abort(error);
      }
    }
    for (const { trace, agent, at, accepted, alerted } of sessions) {
      const complete = at >= trace.steps.length;
      const end = complete ? 'complete' : agent.isTerminated ? 'terminated' : 'unfinished';
      this.summary.addTrace(trace, { accepted, alerted, end });
    }
  }

  /** One trace each, or in batches as many as make up 500 lines. @returns {AsyncGenerator<RecordedTrace[]>} */
  async *#groups() {
    /** @type {RecordedTrace[]} */
    let group = [];
    let lineCount = 0;
    for await (const trace of this.#traces()) {
      if (group.length > 0 && (!this.options.batch || lineCount + trace.steps.length > batchLinesMax)) {
        yield group;
        group = [];
        lineCount = 0;
      }
      group.push(trace);
      lineCount += trace.steps.length;
    }
    if (group.length > 0) yield group;
  }

  /** @returns {AsyncGenerator<RecordedTrace>} */
  async *#traces() {
    const onBytes = (/** @type {number} */ bytes) => {
      this.bytesRead += bytes;
    };
    for await (const { number, text } of readLines(this.options.file, { onBytes })) {
      const trace = this.#parse(number, text);
      if (!trace) continue;
      this.traceCount++;
      yield trace;
      if (this.#stopped || this.traceCount >= this.options.limit) return;
    }
  }

  /** @param {number} number @param {string | null} text @returns {RecordedTrace | null} */
  #parse(number, text) {
    let fault = 'longer than the replay reads';
    if (text !== null) {
      try {
        const value = JSON.parse(text);
        const found = findFault(value);
        if (!found) return value;
        fault = found;
      } catch (error) {
        fault = `not valid JSON (${error instanceof Error ? error.message.slice(0, 80) : error})`;
      }
    }
    this.summary.badLineCount++;
    this.onNote(`line ${number}: ${fault}; skipped`);
    return null;
  }

  /** @param {RecordedTrace} trace @returns {Session} */
  #open(trace) {
    const { meta, identity } = this.#logOf(trace, 0);
    const agent = new ObservatoryAgent({
      url: this.options.url,
      key: this.options.key,
      agent_id: identity.agent_id,
      agent_type: identity.agent_type,
      session_id: meta.session_id ?? meta.trace_id,
      isCooperative: !this.options.ignoreControl,
      signal: this.#stop.signal,
      onRetry: () => {
        this.summary.retryCount++;
      },
    });
    return { trace, agent, at: 0, accepted: 0, alerted: false };
  }

  /** @param {RecordedTrace} trace @param {number} at */
  #logOf(trace, at) {
    return decisionLogOf(trace, at, { intent: this.options.intent, run: this.options.run });
  }

  /** @param {Session} session @returns {Promise<void>} */
  async #postSteps(session) {
    const { trace, agent } = session;
    const stepMs = this.options.speed === null ? 0 : (stepSeconds * 1000) / this.options.speed;
    let dueAt = performance.now();
    while (session.at < trace.steps.length && this.#mayGoOn(session)) {
      if (stepMs > 0) {
        await sleep(Math.max(0, dueAt - performance.now()), undefined, { signal: this.#stop.signal });
        dueAt = Math.max(dueAt, performance.now() - stepMs) + stepMs;
      }
      const answer = await agent.step(this.#logOf(trace, session.at));
      this.summary.latency.record(agent.lastLatencyMs);
      this.#take(session, answer);
      await this.#obeyPause(session);
    }
  }

  /** Rounds of at most 500 lines, until every session is through, ended or stopped. @param {Session[]} sessions */
  async #postBatches(sessions) {
    for (;;) {
      const { lines, owners } = this.#fillBatch(sessions);
      if (lines.length === 0) return;
      const [first] = owners;
      if (!first) return;
      const request = {
        path: '/v1/decision-logs',
        body: lines.join('\n'),
        contentType: 'application/x-ndjson',
      };
      const answer = await send(first.agent.target, request);
      const results = answer.body?.results;
      if (!Array.isArray(results) || results.length !== owners.length)
        throw refusal('The batch was refused', answer);
      this.summary.latency.record(answer.latencyMs);
      for (const [at, owner] of owners.entries()) {
        this.#take(owner, results[at]);
        if (results[at].control) owner.agent.hear(results[at].control);
      }
      for (const session of new Set(owners)) await this.#obeyPause(session);
    }
  }

  /** @param {Session[]} sessions @returns {{ lines: string[], owners: Session[] }} `owners[n]` sent `lines[n]` */
  #fillBatch(sessions) {
    /** @type {string[]} */
    const lines = [];
    /** @type {Session[]} */
    const owners = [];
    let bytes = 0;
    for (const session of sessions) {
      for (let at = session.at; at < session.trace.steps.length && this.#mayGoOn(session); at++) {
        const line = JSON.stringify(this.#logOf(session.trace, at));
        bytes += Buffer.byteLength(line);
        if (lines.length >= batchLinesMax || (bytes > batchBytesMax && lines.length > 0))
          return { lines, owners };
        lines.push(line);
        owners.push(session);
      }
    }
    return { lines, owners };
  }

  /** @param {Session} session */
  #mayGoOn({ agent }) {
    return !this.#stopped && (this.options.ignoreControl || !agent.isTerminated);
  }

  /** @param {Session} session @param {AcceptedAnswer | RejectedAnswer} answer */
  #take(session, answer) {
    if (answer.status === 'rejected') {
      const { trace, at } = session;
      this.summary.rejectedCount++;
      this.onNote(`${trace.trace_id} step ${at}: rejected, ${answer.detail}`);
    } else {
      this.summary.acceptedCount++;
      if (answer.warnings?.length) {
        this.summary.warningCount++;
        this.summary.firstWarning ||= answer.warnings[0] ?? '';
      }
      if (session.at === 0 && answer.entropy.window_size > 1) this.summary.knownBeforeCount++;
      session.accepted++;
      if (answer.entropy.severity === 'loop' && !session.alerted) {
        session.alerted = true;
        this.alertedCount++;
      }
    }
    session.at++;
  }

  /** @param {Session} session @returns {Promise<void>} */
  async #obeyPause({ agent, trace, at }) {
    const over = at >= trace.steps.length;
    if (agent.state !== 'paused' || over || this.options.ignoreControl || this.#stopped) return;
    const givesSlot = this.paused.size < waitingWithoutSlotMax;
    this.paused.add(agent.session_id);
    this.onNote(`${agent.session_id} is paused by an operator: waiting for its resume`);
    if (givesSlot) this.#slots.release();
    try {
      await agent.waitWhilePaused();
    } finally {
      this.paused.delete(agent.session_id);
      if (givesSlot) await this.#slots.acquire();
    }
    this.onNote(`${agent.session_id} ${agent.isTerminated ? 'was ended' : 'goes on'}`);
  }
}
