/** The bounds on texts hold where it matters: a gateway with a small heap, and more in its windows than would fit. */
import { expect, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { startGateway } from './start-gateway.js';

const HEAP_MB = 256;
const STEPS_PER_SESSION = 5;
const SESSIONS_PER_BATCH = 20;
/** 1.25 times the heap, in the windows' texts alone: intent and tool of each step, as long as they may be. */
const BATCHES = Math.ceil(
  (1.25 * HEAP_MB * 1024 * 1024) / (2 * LIMITS.lineCharsMax * STEPS_PER_SESSION * SESSIONS_PER_BATCH),
);

const longText = (session: string, index: number) => `${session} ${index} `.padEnd(LIMITS.lineCharsMax, 'x');

test('[FR-9.1] long intents in ever new sessions do not outgrow a small heap, and each is scored', async () => {
  const gateway = await startGateway({
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  });
  const scores = new Set<number>();
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const logs = Array.from({ length: SESSIONS_PER_BATCH * STEPS_PER_SESSION }, (_, index) => {
      const session_id = `long-${batch}-${index % SESSIONS_PER_BATCH}`;
      return buildDecisionLog({
        meta: { trace_id: `${batch}-${index}`, session_id },
        cognition: { intent: longText(session_id, index) },
        action: { tool_call: longText(session_id, index) },
      });
    });
    const response = await gateway.ingest(logs);
    expect(response.status).toBe(202);
    for (const { entropy } of (await response.json()).results) scores.add(entropy.score);
  }
  expect([...scores]).toEqual([1]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(
    Number(/^observatory_entropy_windows_evicted_total\{[^}]*\} (\d+)/m.exec(metrics)?.[1]),
  ).toBeGreaterThan(0);
  expect(await gateway.stop()).toBe(0);
}, 120_000);
