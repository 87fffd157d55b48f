import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FinishedSpan } from '#contracts';
import { liveBytes } from '#testing';
import { OtlpSpanSink, type SpanEvent, WAITING_SPANS_MAX } from './otlp-span-sink.js';

const span: FinishedSpan = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: null,
  name: 'chat',
  kind: 'server',
  startMs: 1_700_000_000_123.25,
  durationMs: 1_000.5,
  attributes: {
    'gen_ai.request.model': 'm',
    'observatory.tool_calls': ['search', 'read'],
    'gen_ai.usage.input_tokens': 7,
  },
  error: null,
};
const many = (count: number): FinishedSpan[] => new Array(count).fill(span);

let server: Server;
let bodies: string[];
let answer: RequestListener;
let events: SpanEvent[];
beforeEach(async () => {
  bodies = [];
  events = [];
  answer = (_request, response) => void response.end();
  server = createServer(async (request, response) => {
    try {
      let body = '';
      for await (const chunk of request) body += chunk;
      bodies.push(body);
      answer(request, response);
    } catch {
      // Given up by who sent it.
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

const open = (): OtlpSpanSink =>
  new OtlpSpanSink({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    protocol: 'http/json',
    serviceName: 'a-service',
    serviceVersion: '1.2.3',
    onEvent: (event) => events.push(event),
  });
const countOf = (kind: SpanEvent['kind']): number =>
  events.filter((event) => event.kind === kind).reduce((sum, { count }) => sum + count, 0);

test('a span is sent as it was told, to the nanosecond', async () => {
  const sink = open();
  sink.export([span]);
  await sink.close();
  const [{ resource, scopeSpans }] = JSON.parse(bodies[0] ?? '').resourceSpans;
  expect(scopeSpans[0].scope).toMatchObject({ name: 'a-service', version: '1.2.3' });
  expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'a-service' } });
  const [sent] = scopeSpans[0].spans;
  expect(sent).toMatchObject({
    traceId: span.traceId,
    spanId: span.spanId,
    startTimeUnixNano: '1700000000123250000',
    endTimeUnixNano: '1700000001123750000',
    status: { code: 0 },
  });
  expect(sent.parentSpanId ?? '').toBe('');
  expect(sent.attributes).toContainEqual({
    key: 'observatory.tool_calls',
    value: { arrayValue: { values: [{ stringValue: 'search' }, { stringValue: 'read' }] } },
  });
  expect(events).toEqual([{ kind: 'exported', count: 1 }]);
});

test('a collector that never answers holds so many spans and no more; the rest is counted', async () => {
  answer = () => {};
  const sink = open();
  for (let sent = 0; sent < WAITING_SPANS_MAX; sent += 512) sink.export(many(512));
  expect(countOf('dropped')).toBe(0);
  sink.export(many(3));
  expect(events).toEqual([{ kind: 'dropped', count: 3 }]);
});

test('memory does not grow while a collector hangs, batch after batch', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '400');
  answer = () => {};
  const sink = open();
  /** So many spans at least, each with an attribute of its own, of a kilobyte, and until so many batches have failed. */
  const offer = async (count: number, batches: number): Promise<void> => {
    for (let offered = 0; offered < count || countOf('failed') < batches * 512; offered += 512) {
      sink.export(
        many(512).map((one) => ({ ...one, attributes: { text: randomBytes(500).toString('hex') } })),
      );
      await new Promise((settle) => setTimeout(settle, 1));
    }
  };
  const heldBytes = (): number => {
    bodies.length = 0;
    return liveBytes();
  };
  await offer(2 * WAITING_SPANS_MAX, 1);
  const before = heldBytes();
  await offer(100_000, 4);
  // What was offered meanwhile is a hundred megabytes, what may wait is eight.
  expect(heldBytes() - before).toBeLessThan(16 * 1024 * 1024);
  expect([countOf('exported'), countOf('dropped') + countOf('failed') > 90_000]).toEqual([0, true]);
  answer = (_request, response) => void response.writeHead(403).end();
  server.closeAllConnections();
  await sink.close();
}, 60_000);

test('what was sent makes room again', async () => {
  const sink = open();
  sink.export(many(WAITING_SPANS_MAX));
  sink.export([span]);
  expect(countOf('dropped')).toBe(1);
  await expect.poll(() => countOf('exported')).toBe(WAITING_SPANS_MAX);
  sink.export([span]);
  await sink.close();
  expect(countOf('exported')).toBe(WAITING_SPANS_MAX + 1);
  expect(countOf('dropped')).toBe(1);
});

test('a refusal is told without what the collector said', async () => {
  answer = (_request, response) => void response.writeHead(403).end('the key abc is not welcome');
  const sink = open();
  sink.export([span]);
  await sink.close();
  expect(events).toEqual([{ kind: 'failed', count: 1, detail: 'OTLPExporterError (403)' }]);
});

test('after its end it takes nothing, and says nothing wrong', async () => {
  const sink = open();
  await sink.close();
  sink.export([span]);
  await sink.close();
  expect(bodies).toEqual([]);
});
