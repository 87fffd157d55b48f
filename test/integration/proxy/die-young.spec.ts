/**
 * What a call takes in memory goes with the call: it is collected young, in a millisecond, and not by a collection of the whole
 * heap (decision 0019). Seen from outside: how much a call adds to the old generation of the gateway's heap.
 */
import { expect, test } from 'vitest';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { openaiChat } from './vendors.js';

const AT_ONCE = 32;
/** As often as it takes V8 to optimise and to make up its mind about what lives long. */
const WARM_UP_CALLS = 8_000;
const CALLS = 6_000;
/** Whose windows are so few that they hold next to nothing. */
const SESSIONS = 8;
const SYSTEM = 'You answer briefly and truthfully. '.repeat(50);
/** A call whose objects all grow old leaves 9 kB. */
const OLD_BYTES_PER_CALL_MAX = 3_000;

startOneGateway((origin) => upstreamsAt(origin));

test('a call leaves next to nothing in the old generation', async () => {
  upstream.script((_call, response) => openaiChat.answer({ json: {}, url: '' }, response, { text: 'Done.' }));
  await callMany(WARM_UP_CALLS);
  // A collection of the whole heap within a window takes away what is to be counted.
  for (let round = 0; ; round += 1) {
    expect(round, 'windows without a collection of the whole heap').toBeLessThan(10);
    const before = await heap();
    await callMany(CALLS);
    const after = await heap();
    if (after.majorCount !== before.majorCount) continue;
    expect((after.oldBytes - before.oldBytes) / CALLS).toBeLessThan(OLD_BYTES_PER_CALL_MAX);
    return;
  }
}, 120_000);

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
