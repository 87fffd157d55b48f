/**
 * What a call takes in memory goes with the call: it is collected young, in a millisecond, and not by a collection of the whole
 * heap (decision 0019). Seen from outside: how much a call adds to the old generation of the gateway's heap.
 */
import { expect, test } from 'vitest';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { openaiChat } from './vendors.js';

const AT_ONCE = 32;
const WARM_UP_CALLS = 8_000;
const CALLS = 6_000;
/**
 * As many as it takes V8 to optimise: on Node 26, whose V8 compiles in one more step, calls of the first few grow old, and none
 * of those after them. Where calls are kept by something of ours, all windows tell of it.
 */
const WINDOWS_MAX = 10;
/** Whose windows are so few that they hold next to nothing. */
const SESSIONS = 8;
const SYSTEM = 'You answer briefly and truthfully. '.repeat(50);
/** A call whose objects all grow old leaves 9 kB. */
const OLD_BYTES_PER_CALL_MAX = 3_000;

startOneGateway((origin) => upstreamsAt(origin));

test('a call leaves next to nothing in the old generation', async () => {
  upstream.script((_call, response) => openaiChat.answer({ json: {}, url: '' }, response, { text: 'Done.' }));
  await callMany(WARM_UP_CALLS);
  let least = Number.POSITIVE_INFINITY;
  for (let window = 0; window < WINDOWS_MAX && least >= OLD_BYTES_PER_CALL_MAX; window += 1) {
    const before = await heap();
    await callMany(CALLS);
    const after = await heap();
    // A collection of the whole heap meanwhile takes away what is to be counted.
    if (after.majorCount === before.majorCount)
      least = Math.min(least, (after.oldBytes - before.oldBytes) / CALLS);
  }
  expect(least).toBeLessThan(OLD_BYTES_PER_CALL_MAX);
}, 240_000);

let serial = 0;

async function callMany(count: number): Promise<void> {
  upstream.calls.length = 0;
  const until = serial + count;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (serial < until) await callOnce();
    }),
  );
}

async function callOnce(): Promise<void> {
  serial += 1;
  const response = await fetch(`${gateway.url}/agents/mayfly/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.agentKey}`,
      'content-type': 'application/json',
      'x-observatory-session': `mayfly-${serial % SESSIONS}`,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: unlikeAnyOther() },
      ],
    }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Done.')]);
}

/** An agent that makes progress. */
const unlikeAnyOther = (): string =>
  Array.from({ length: 12 }, () => Math.random().toString(36).slice(2, 9)).join(' ');

async function heap(): Promise<{ oldBytes: number; majorCount: number }> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const sample = (name: string) => new RegExp(`^observatory_nodejs_${name} (\\S+)$`, 'm').exec(metrics)?.[1];
  const oldBytes = Number(sample('heap_space_size_used_bytes\\{space="old"\\}'));
  expect(oldBytes).toBeGreaterThan(0);
  // Not there before the first.
  return { oldBytes, majorCount: Number(sample('gc_duration_seconds_count\\{kind="major"\\}') ?? 0) };
}
