/** Spans of proxied calls, as a trace collector receives them over OTLP/HTTP; the caller is the vendor's own SDK. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { respondJson, ScriptedUpstream } from '#testing';
import { type Receiver, startReceiver, status } from '../http-receiver.js';
import { AGENT_KEY, type RunningGateway, startGateway } from '../start-gateway.js';
import { always, openaiChat } from './vendors.js';

const VENDOR_KEY = 'sk-upstream-canary-9d1b7e44';
const COLLECTOR_KEY = 'collector-canary-0f3a55c2';
const SAID = 'a sentence that no trace may repeat';
const ANSWERED = 'an answer that no trace may repeat';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN_ID = '00f067aa0ba902b7';

/** A span of OTLP/JSON. */
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
}

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  return () => upstream.close();
});

let collector: Receiver;
let gateway: RunningGateway;
async function start(env: Record<string, string> = {}): Promise<void> {
  collector = await startReceiver();
  collector.answer = (_, response) => void response.writeHead(200).end();
  gateway = await startGateway({
    env: {
      OBSERVATORY_UPSTREAM_OPENAI_URL: `${upstream.origin}/v1`,
      OBSERVATORY_UPSTREAM_OPENAI_KEY: VENDOR_KEY,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${COLLECTOR_KEY}`,
      ...env,
    },
  });
}
afterEach(async () => {
  expect(await gateway.stop()).toBe(0);
  for (const secret of [VENDOR_KEY, COLLECTOR_KEY, SAID, ANSWERED])
    expect(gateway.output()).not.toContain(secret);
  await collector.close();
});

const ask = (headers: Record<string, string> = {}) =>
  openaiChat.ask(gateway.url, SAID, {
    agent: 'planner',
    headers: { 'x-observatory-session': 's-1', ...headers },
  });

const spans = (): Span[] =>
  collector.received
    .flatMap(({ body }) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap((scope: { spans: Span[] }) => scope.spans);
const attributesOf = ({ attributes }: Span): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const metric = async (line: string): Promise<string | undefined> =>
  (await (await fetch(`${gateway.url}/metrics`)).text()).split('\n').find((one) => one.startsWith(line));

describe('with a collector', () => {
  test("a call is a span of its caller's trace, with the upstream's wait under it", async () => {
    await start();
    upstream.script(async (call, response) => {
      await sleep(20);
      return openaiChat.answer(call, response, { text: ANSWERED });
    });
    await ask({ traceparent: `00-${TRACE_ID}-${CALLER_SPAN_ID}-01` });
    const [first] = await collector.arrived(1);
    expect(first).toMatchObject({ method: 'POST', path: '/v1/traces' });
    expect(first?.headers['x-collector-key']).toBe(COLLECTOR_KEY);

    const [whole, ...steps] = spans();
    expect(whole).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: CALLER_SPAN_ID,
      name: 'chat gpt-4o-mini',
      kind: SERVER,
    });
    expect(attributesOf(whole as Span)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.agent.id': 'planner',
      'gen_ai.conversation.id': 's-1',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'http.response.status_code': 200,
      'observatory.decision': 'forwarded',
      'observatory.tenant.id': 'default',
    });
    // What went upstream is a child of this very span.
    expect(upstream.calls[0]?.headers.traceparent).toBe(`00-${TRACE_ID}-${whole?.spanId}-01`);

    const forward = steps.find(({ name }) => name === 'forward') as Span;
    expect(forward).toMatchObject({ parentSpanId: whole?.spanId, kind: CLIENT });
    expect(attributesOf(forward)['server.address']).toBe('127.0.0.1');
    const tookNs = BigInt(forward.endTimeUnixNano) - BigInt(forward.startTimeUnixNano);
    expect(tookNs).toBeGreaterThan(15_000_000n);
    expect(BigInt(forward.endTimeUnixNano)).toBeLessThanOrEqual(
      BigInt(whole?.endTimeUnixNano ?? 0) + 1_000_000n,
    );

    const said = collector.received.map(({ body }) => body).join();
    for (const secret of [SAID, ANSWERED, AGENT_KEY, VENDOR_KEY]) expect(said).not.toContain(secret);
  });

  test('a call without a trace begins one, which the upstream is not told of', async () => {
    await start({ OTEL_SERVICE_NAME: 'guard-of-agents' });
    upstream.script(always(openaiChat, { text: 'ok' }));
    await ask();
    await collector.arrived(1);
    const [whole] = spans();
    expect(whole?.parentSpanId ?? '').toBe('');
    expect(upstream.calls[0]?.headers.traceparent).toBeUndefined();
    expect(collector.received[0]?.body).toContain('guard-of-agents');
    const { body } = await gateway.operator('GET', '/v1/calls');
    expect(body.items[0].trace_parent).toBe(`00-${whole?.traceId}-${whole?.spanId}-01`);
  });

  test('an error of the upstream is one of the span', async () => {
    await start();
    upstream.script((_call, response) => respondJson(response, 500, { error: { message: ANSWERED } }));
    await ask().catch(() => {});
    await collector.arrived(1);
    expect(spans()[0]?.status).toEqual({ code: ERROR, message: '500' });
    expect(attributesOf(spans()[0] as Span)['error.type']).toBe('500');
    expect(collector.received[0]?.body).not.toContain(ANSWERED);
  });

  test('a trace that its caller does not record is not recorded here', async () => {
    await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    upstream.script(always(openaiChat, { text: 'ok' }));
    await ask({ traceparent: `00-${TRACE_ID}-${CALLER_SPAN_ID}-00` });
    await ask();
    await ask({ traceparent: `00-${'a'.repeat(32)}-${CALLER_SPAN_ID}-01` });
    await collector.arrived(1);
    expect(new Set(spans().map(({ traceId }) => traceId))).toEqual(new Set(['a'.repeat(32)]));
  });

  test('what waits is sent before the gateway ends', async () => {
    await start();
    upstream.script(always(openaiChat, { text: 'ok' }));
    await ask();
    expect(await gateway.stop()).toBe(0);
    expect(spans()[0]?.name).toBe('chat gpt-4o-mini');
  });

  test('speaks protobuf unless told otherwise', async () => {
    await start({ OTEL_EXPORTER_OTLP_PROTOCOL: '' });
    upstream.script(always(openaiChat, { text: 'ok' }));
    await ask();
    const [first] = await collector.arrived(1);
    expect(first?.headers['content-type']).toBe('application/x-protobuf');
    expect(first?.body).toContain('chat gpt-4o-mini');
  });
});

test('a collector that is gone costs spans and no call, and is told of once', async () => {
  await start();
  collector.answer = status(400);
  upstream.script(always(openaiChat, { text: 'ok' }));
  expect((await ask()).text).toBe('ok');
  await collector.arrived(1);
  expect((await ask()).text).toBe('ok');
  await collector.arrived(2);
  await expect.poll(() => metric('observatory_spans_total{outcome="failed"}')).toMatch(/ [4-9]$|[1-9]\d$/);
  expect(gateway.output().match(/spans_refused/g)).toHaveLength(1);
  collector.answer = (_, response) => void response.writeHead(200).end();
  await ask();
  await expect.poll(() => gateway.output()).toContain('spans_accepted');
});

test('one that hangs while calls flood in costs no call and holds no more than its bound', async () => {
  await start({ LOG_LEVEL: 'warn' });
  collector.answer = () => {};
  upstream.script((_call, response) => respondJson(response, 200, { choices: [] }));
  const url = `${gateway.url}/agents/flood/proxy/openai/v1/chat/completions`;
  const headers = { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json' };
  await gateway.operator('PATCH', '/v1/agents/flood/kill-switch', { enabled: false });
  let asked = 0;
  const one = async () => {
    asked += 1;
    const messages = [{ role: 'user', content: `Question ${asked * 7919}` }];
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages });
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  const countOf = async (outcome: string) =>
    Number((await metric(`observatory_spans_total{outcome="${outcome}"}`))?.split(' ')[1] ?? 0);
  // Until there is no place left, and then some more.
  const statuses = new Set<number>();
  while ((await countOf('dropped')) === 0 && asked < 20_000) {
    const round = Array.from({ length: 16 }, async () => {
      for (let n = 0; n < 20; n += 1) statuses.add(await one());
    });
    await Promise.all(round);
  }
  expect(statuses).toEqual(new Set([200]));
  expect(await countOf('dropped')).toBeGreaterThan(0);
  expect(await countOf('exported')).toBe(0);
  expect(upstream.calls).toHaveLength(asked);
  // What hangs would keep the end waiting for as long as a batch may take.
  await collector.close();
}, 120_000);

test('a call that was held tells so, and how long, once it has ended', async () => {
  await start();
  const session = 's-1';
  upstream.script(always(openaiChat, { text: 'ok' }));
  await ask();
  await expect.poll(async () => (await gateway.operator('GET', `/v1/sessions/${session}`)).status).toBe(200);
  await collector.arrived(1);
  const before = spans().length;
  await gateway.operator('POST', `/v1/sessions/${session}/pause`, { reason: 'look' });
  const asked = ask({ traceparent: `00-${TRACE_ID}-${CALLER_SPAN_ID}-01` });
  await expect
    .poll(async () => (await gateway.operator('GET', `/v1/held-calls?session_id=${session}`)).body.items)
    .toHaveLength(1);
  // Longer than spans wait for a batch: one that has not ended is in none.
  await sleep(1_500);
  expect(spans()).toHaveLength(before);
  await gateway.operator('POST', `/v1/sessions/${session}/resume`);
  await asked;
  await expect.poll(() => spans().length).toBeGreaterThan(before);
  const [whole, ...steps] = spans().slice(before);
  const msOf = ({ startTimeUnixNano, endTimeUnixNano }: Span) =>
    Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6;
  const [hold, forward] = ['hold', 'forward'].map((name) => steps.find((step) => step.name === name) as Span);
  expect(hold).toMatchObject({ traceId: TRACE_ID, parentSpanId: whole?.spanId });
  expect(msOf(hold as Span)).toBeGreaterThan(1_400);
  expect(msOf(whole as Span)).toBeGreaterThan(msOf(hold as Span));
  expect(Number(attributesOf(whole as Span)['observatory.held_ms'])).toBeGreaterThan(1_400);
  expect(BigInt(forward?.startTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(
    BigInt(hold?.endTimeUnixNano ?? 0) - 1_000_000n,
  );
});

test('without one nothing is sent, and no trace begins', async () => {
  await start({ OTEL_TRACES_EXPORTER: 'none' });
  upstream.script(always(openaiChat, { text: 'ok' }));
  await ask();
  await ask({ traceparent: `00-${TRACE_ID}-${CALLER_SPAN_ID}-01` });
  const { body } = await gateway.operator('GET', '/v1/calls');
  const places: (string | null)[] = body.items.map(
    (call: { trace_parent: string | null }) => call.trace_parent,
  );
  expect(places[1]).toBeNull();
  expect(places[0]).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
  // What waits for a batch is sent before the gateway ends.
  expect(await gateway.stop()).toBe(0);
  expect(collector.received).toEqual([]);
});
