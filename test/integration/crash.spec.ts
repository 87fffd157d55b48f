/**
 * kill -9 under load, again and again, at random moments, on one data folder: what was acknowledged is there
 * once, what was not can be sent again, windows go on as if nothing had happened, numbers never go back.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer, StepView, SubscribeAck } from '#contracts';
import { buildDecisionLog } from '#testing';
import { type RunningGateway, startGateway } from './start-gateway.js';

const CRASH_COUNT = 10;
const SESSION_COUNT = 6;
const BATCH_LINES = 20;
const WINDOW_SIZE = 5;
const LOAD_MS_MAX = 900;

const dataDir = mkdtempSync(join(tmpdir(), 'observatory-crash-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

type Log = ReturnType<typeof buildDecisionLog>;

/** One agent: posts step after step, and after a crash sends again what it has no answer for. */
class Sender {
  readonly acknowledged = new Map<string, AcceptedAnswer>();
  #unanswered: Log[] = [];
  #serial = 0;

  constructor(
    readonly sessionId: string,
    private readonly sendsBatches: boolean,
  ) {}

  /** Until the gateway goes away. */
  async run(gateway: RunningGateway): Promise<void> {
    for (;;) {
      if (this.#unanswered.length === 0) this.#unanswered = this.#next();
      try {
        const answers = await this.#post(gateway, this.#unanswered);
        for (const answer of answers) {
          expect(answer.status).toBe('accepted');
          this.acknowledged.set(answer.trace_id, answer);
        }
        this.#unanswered = [];
      } catch (error) {
        if (error instanceof TypeError || (error as Error).name === 'SocketError') return;
        throw error;
      }
    }
  }

  #next(): Log[] {
    return Array.from({ length: this.sendsBatches ? BATCH_LINES : 1 }, () => {
      this.#serial += 1;
      return buildDecisionLog({
        meta: { trace_id: `${this.sessionId}#${this.#serial}`, session_id: this.sessionId },
        // Few intents, so that windows repeat and every score occurs.
        cognition: { intent: `intent ${Math.floor(Math.random() * 3)}` },
      } as never);
    });
  }

  async #post(gateway: RunningGateway, logs: Log[]): Promise<AcceptedAnswer[]> {
    if (!this.sendsBatches) {
      const response = await gateway.ingest(logs[0]);
      return [await response.json()];
    }
    const body = logs.map((log) => JSON.stringify(log)).join('\n');
    const response = await gateway.ingest(body, { 'content-type': 'application/x-ndjson' });
    return (await response.json()).results;
  }
}

async function storedSteps(gateway: RunningGateway, sessionId: string): Promise<StepView[]> {
  const steps: StepView[] = [];
  let cursor = '';
  do {
    const { body } = await gateway.operator(
      'GET',
      `/v1/sessions/${sessionId}/decision-logs?limit=500${cursor}`,
    );
    steps.push(...body.items);
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  } while (cursor !== '');
  return steps;
}

async function liveSeq(gateway: RunningGateway): Promise<number> {
  const socket = io(`${gateway.url}/live`, {
    auth: { token: gateway.operatorToken },
    transports: ['websocket'],
  });
  try {
    const ack: SubscribeAck = await socket.emitWithAck('subscribe', { topic: 'gateway:messages' });
    if (ack.status !== 'ok') throw new Error(ack.detail);
    return ack.seq;
  } finally {
    socket.disconnect();
  }
}

/** Scores a session's steps anew, by the requirement's own words. */
function expectedScores(steps: StepView[]): number[] {
  return steps.map((_, index) => {
    const window = steps.slice(Math.max(0, index + 1 - WINDOW_SIZE), index + 1);
    const unique = new Set(
      window.map(({ cognition, action }) =>
        JSON.stringify([cognition.intent, action.tool_call, action.status]),
      ),
    );
    return Math.round((unique.size / window.length) * 10_000) / 10_000;
  });
}

describe('a gateway killed at random moments under load', () => {
  test(`loses and doubles nothing in ${CRASH_COUNT} crashes`, { timeout: 240_000 }, async () => {
    const senders = Array.from(
      { length: SESSION_COUNT },
      (_, index) => new Sender(`crash-${index}`, index % 3 === 0),
    );
    let previousSeq = 0;
    for (let crash = 0; crash < CRASH_COUNT; crash += 1) {
      const gateway = await startGateway({ dataDir });
      const running = Promise.all(senders.map((sender) => sender.run(gateway)));
      await new Promise((settle) => setTimeout(settle, 100 + Math.random() * LOAD_MS_MAX));
      const seq = await liveSeq(gateway);
      expect(seq).toBeGreaterThan(previousSeq);
      previousSeq = seq;
      await gateway.kill();
      await running;
    }

    const gateway = await startGateway({ dataDir });
    expect(await liveSeq(gateway)).toBeGreaterThan(previousSeq);
    for (const sender of senders) {
      const steps = await storedSteps(gateway, sender.sessionId);
      const traceIds = steps.map((step) => step.meta.trace_id);
      expect(new Set(traceIds).size).toBe(traceIds.length);
      expect(sender.acknowledged.size).toBeGreaterThan(CRASH_COUNT);
      const stored = new Map(steps.map((step) => [step.meta.trace_id, step]));
      for (const [traceId, answer] of sender.acknowledged) {
        expect(stored.get(traceId)?.cognition.entropy_score, traceId).toBe(answer.entropy.score);
      }
      const seqs = steps.map((step) => step.gateway.seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
      expect(steps.map((step) => step.cognition.entropy_score)).toEqual(expectedScores(steps));
      const { body: session } = await gateway.operator('GET', `/v1/sessions/${sender.sessionId}`);
      expect(session.step_count).toBe(steps.length);
    }
    expect(await gateway.stop()).toBe(0);
  });
});
