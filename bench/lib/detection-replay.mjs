/**
 * Replays traces as the LLM calls of agents that know nothing of Observatory but its base URL: each trace is an agent
 * and a session of its own, one call after another, until the recording ends or the kill switch ends it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { sessionIdOf } from '../../scripts/lib/replay-trace.mjs';
import { requestBodies } from './detection-chat.mjs';

/** @typedef {import('../../scripts/lib/replay-trace.mjs').RecordedTrace} RecordedTrace */
/** @typedef {import('../../scripts/lib/gateway-process.mjs').GatewayProcess} GatewayProcess */
/** @typedef {{ name: string, wire: import('./detection-chat.mjs').Wire, killSwitch: object | null, isPaced?: boolean }} Pass
 *   `killSwitch`: the change to each agent's settings, null leaves them as they come; `isPaced`: every call must make a step */
/** @typedef {{ trace: RecordedTrace, agentId: string, killedAt: number | null }} Outcome `killedAt`: index of the call that was stopped */

const path = '/proxy/openai/v1/chat/completions';
const concurrency = 16;
/** Below the 200 a second of which the gateway makes steps of a session: beyond it, it drops some. */
const callsPerSecond = 180;
const pageRows = 500;

export class DetectionReplay {
  #gateway;
  #pool;
  #dueAtMs = 0;

  /** @param {GatewayProcess} gateway */
  constructor(gateway) {
    this.#gateway = gateway;
    this.#pool = new Pool(gateway.url, { connections: concurrency });
  }

  close() {
    return this.#pool.close();
  }

  /** @param {RecordedTrace[]} traces @param {Pass} pass @returns {Promise<Outcome[]>} in the order of `traces` */
  async run(traces, pass) {
    /** @type {Outcome[]} */
    const outcomes = [];
    // The longest first, so that none of them is what all others have to be waited for.
    const order = [...traces.keys()].sort(
      (one, other) => (traces[other]?.steps.length ?? 0) - (traces[one]?.steps.length ?? 0),
    );
    const work = async () => {
      for (let index = order.shift(); index !== undefined; index = order.shift())
        outcomes[index] = await this.#replay(/** @type {RecordedTrace} */ (traces[index]), index, pass);
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return outcomes;
  }

  /** @param {RecordedTrace} trace @param {number} index @param {Pass} pass @returns {Promise<Outcome>} */
  async #replay(trace, index, { name, wire, killSwitch, isPaced }) {
    const agentId = sessionIdOf(trace.trace_id, name);
    if (killSwitch) await this.ask('PATCH', `/v1/agents/${agentId}/kill-switch`, killSwitch);
    const outcome = { trace, agentId, killedAt: /** @type {number | null} */ (null) };
    let at = 0;
    for (const body of requestBodies(trace, wire)) {
      if (isPaced) await this.#pace();
      const {
        statusCode,
        headers,
        body: answer,
      } = await this.#pool.request({
        path,
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#gateway.agentKey}`,
          'content-type': 'application/json',
          'x-observatory-agent': agentId,
          'x-observatory-session': agentId,
          'x-recorded-step': `${index}.${at}.${wire}`,
        },
        body,
      });
      const text = await answer.text();
      if (statusCode !== 200)
        throw new Error(`${agentId}, call ${at + 1}: ${statusCode} ${text.slice(0, 300)}`);
      if (headers['x-observatory-decision'] === 'killed') {
        outcome.killedAt = at;
        break;
      }
      at += 1;
    }
    return outcome;
  }

  async #pace() {
    this.#dueAtMs = Math.max(this.#dueAtMs, performance.now()) + 1_000 / callsPerSecond;
    const waitMs = this.#dueAtMs - performance.now();
    if (waitMs > 2) await sleep(waitMs);
  }

  /** As an operator. @param {string} method @param {string} target @param {object} [body] @returns {Promise<any>} */
  async ask(method, target, body) {
    const { statusCode, body: answer } = await this.#pool.request({
      path: target,
      method: /** @type {any} */ (method),
      headers: {
        authorization: `Bearer ${this.#gateway.operatorToken}`,
        'x-observatory-operator-id': 'bench',
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await answer.text();
    if (statusCode !== 200) throw new Error(`${method} ${target}: ${statusCode} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  }

  /** All pages of a list. @param {string} target with a query @returns {AsyncGenerator<any>} */
  async *list(target) {
    for (let cursor = ''; ; ) {
      const page = await this.ask(
        'GET',
        `${target}limit=${pageRows}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      yield* page.items;
      if (!page.next_cursor) return;
      cursor = page.next_cursor;
    }
  }
}
