import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UpstreamExchange } from '#adapters/upstream-http';
import { dialectFor } from '#domain/llm-dialects';
import { buildSessionView, countingIds, FakeClock, turn } from '#testing';
import { FairShare } from '../../fair-share.js';
import { RetryClaims } from '../calls/retry-claims.js';
import { RunningCalls } from '../calls/running-calls.js';
import { answerStore } from '../calls/stored-answers.fixture.js';
import { WaitingCalls } from '../calls/waiting-calls.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { ProxyRoute } from '../proxy-route.js';
import { ContinuedSessions } from '../sessions/continued-sessions.js';
import type { Step } from '../step.js';
import { forwardStep } from './forward.step.js';
import { receiveStep } from './receive.step.js';

const ORIGIN = 'http://upstream.test';
/** Of a timer: what it waits for comes in the test, or not at all. */
const NEVER_MS = 2 ** 31 - 1;

function callOf(): ProxyCall {
  const call = buildProxyCall({ method: 'GET', path: '/models' });
  call.upstream = { ...call.upstream, origin: ORIGIN, apiKey: null };
  return call;
}

/** Of OpenAI's chat, to a client that takes all it is given. */
const chatCall = (): ProxyCall =>
  Object.assign(callOf(), {
    dialect: dialectFor('openai', 'POST', '/chat/completions'),
    outgoing: { writeHead() {}, write: () => true, end() {}, headersSent: false },
  });

type ForwardParts = Parameters<typeof forwardStep>[0];
type Client = ForwardParts['client'];
type Sink = Parameters<Client['send']>[1];

/** Of a call that nobody commands and nothing bars. */
const sendingThrough = (
  send: (sink: Sink) => ReturnType<Client['send']>,
  more: Partial<ForwardParts> = {},
): Step =>
  forwardStep({
    running: new RunningCalls({ max: 4, onFull: () => {} }),
    bodyBytes: new FairShare({ max: 1, onFull: () => {} }),
    answerBytes: new FairShare({ max: 1, onFull: () => {} }),
    clientStallMs: 1_000,
    ownOrigin: () => ORIGIN,
    control: {
      answerFor: () => ({ state: 'active', directives: [] }),
      view: () => buildSessionView().control,
      onChanged: () => () => {},
    },
    waiting: new WaitingCalls(),
    told: { isEmpty: true, find: () => null, note() {} },
    standing: () => undefined,
    client: { send: (_request, sink) => send(sink) },
    ...more,
  });

test('a call whose upstream fails while it is sent gives its place back once, though its client leaves too', async () => {
  const running = new RunningCalls({ max: 4, onFull: () => {} });
  const send = (sink: Sink) => {
    const exchange = new UpstreamExchange(sink, NEVER_MS);
    exchange.onError(new Error('no such header'));
    return exchange;
  };
  const step = sendingThrough(send, { running });
  running.enter('default', ORIGIN);
  const call = callOf();
  expect(await step.run?.(call)).toMatchObject({ code: 'upstream_unreachable' });
  call.leave();
  call.leave();
  // One of the tenant's two places is still another call's.
  expect([running.enter('default', ORIGIN), running.enter('default', ORIGIN)]).toEqual([true, false]);
});

test.each([
  ['had begun to think has been taken up', { reasoning_content: 'Let me see.' }, true],
  ['had begun nothing has not', {}, false],
])('an answer that ends with an error and %s', async (_, delta, wasTakenUp) => {
  const call = chatCall();
  const step = sendingThrough((sink) => {
    sink.sent();
    sink.head(200, ['content-type', 'text/event-stream'], 'OK');
    for (const event of [{ choices: [{ index: 0, delta }] }, { error: { message: 'overloaded' } }])
      sink.chunk(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
    sink.end();
    return new UpstreamExchange(sink, NEVER_MS);
  });
  await step.run?.(call);
  expect(call).toMatchObject({ decision: 'upstream_failed', isAnswered: false, wasTakenUp });
});

describe('a client that leaves between the last byte of its answer and the end of the turn, which it waits for', () => {
  const ANSWER = Buffer.from(
    JSON.stringify({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 3 },
    }),
  );

  test.each([
    ['before', true],
    ['behind', false],
  ])('%s the answer is known to have ended', async (_, leavesFirst) => {
    const running = new RunningCalls({ max: 4, onFull: () => {} });
    // One of the tenant's two places is another call's: alone, a call's bytes would wait for no end of a turn.
    running.enter('default', ORIGIN);
    const outgoing = Object.assign(new EventEmitter(), {
      socket: {},
      writableFinished: false,
      headersSent: false,
      writeHead() {},
      end: vi.fn(),
    });
    let reported!: Sink;
    let exchange!: UpstreamExchange;
    const send = (sink: Sink) => {
      reported = sink;
      exchange = new UpstreamExchange(sink, NEVER_MS);
      return exchange;
    };
    const forward = sendingThrough(send, { running });
    const settled: ProxyCall[] = [];
    const identified: Step = {
      name: 'identify',
      onFailure: 'closed',
      run(call) {
        const { principal, upstream } = callOf();
        const dialect = dialectFor('openai', 'POST', '/chat/completions');
        Object.assign(call, { principal, upstream, dialect });
        return undefined;
      },
      settle: (call) => void settled.push(call),
    };
    const route = new ProxyRoute({
      steps: [identified, forward],
      clock: new FakeClock(),
      ids: countingIds(),
      events: {
        failedOpen: expect.unreachable,
        failedClosed: expect.unreachable,
        turnedAway: expect.unreachable,
      },
      isDraining: () => false,
    });
    const incoming = {
      method: 'POST',
      url: '/proxy/openai/v1/x',
      rawHeaders: [],
      headers: {},
      complete: true,
    };
    route.handle(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse);
    await vi.waitFor(() => expect(reported).toBeDefined());
    await turn();

    reported.sent();
    reported.head(200, ['content-length', String(ANSWER.length)], 'OK');
    reported.chunk(ANSWER);
    expect(outgoing.end).not.toHaveBeenCalled();
    if (leavesFirst) outgoing.emit('close');
    else {
      exchange.onComplete();
      outgoing.emit('close');
    }
    await vi.waitFor(() => expect([...route.running]).toEqual([]));
    await turn();

    // It was not told all of it; what it took is known, and is spent.
    expect(settled).toHaveLength(1);
    expect(settled[0]).toMatchObject({
      decision: 'aborted',
      status: 499,
      isAnswered: !leavesFirst,
      wasTakenUp: true,
      answer: { text: 'Hi', finish: 'stop', usage: { input_tokens: 9, output_tokens: 3 } },
    });
    expect(outgoing.end).toHaveBeenCalledOnce();
    // Undici's word that the request is let go: the place is given back once.
    exchange.onError(new Error('aborted'));
    expect([running.enter('default', ORIGIN), running.enter('default', ORIGIN)]).toEqual([true, false]);
  });
});

describe('a client that leaves a stream', () => {
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  const said = event({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] });

  test.each<[string, string, Partial<ProxyCall>, boolean]>([
    ['behind its last event has its answer', `${said}data: [DONE]\n\n`, {}, true],
    ['before its last event has not', said, {}, false],
    [
      'behind its last event, since the gateway let go of it, has not',
      `${said}data: [DONE]\n\n`,
      { detail: 'The client read nothing for 30 s.' },
      false,
    ],
    [
      'behind a finish reason of Gemini, which some models tell with each event, has not',
      event({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
      { dialect: dialectFor('gemini', 'POST', '/v1beta/models/gemini-1.5-flash:streamGenerateContent') },
      false,
    ],
  ])('%s', async (_, events, more, leftAtEnd) => {
    const call = Object.assign(chatCall(), more);
    const send = (sink: Sink) => {
      sink.sent();
      sink.head(200, ['content-type', 'text/event-stream'], 'OK');
      sink.chunk(Buffer.from(events));
      return new UpstreamExchange(sink, NEVER_MS);
    };
    const over = sendingThrough(send).run?.(call);
    await turn();
    call.leave();
    await over;
    expect(call).toMatchObject({ leftAtEnd, isAnswered: leftAtEnd, answer: { text: 'Hi' } });
  });
});

test('what a long answer takes while it is read, it gives back with its call', async () => {
  const call = chatCall();
  const answerBytes = new FairShare({ max: 1024 ** 2, onFull: () => {} });
  let takenWhole = 0;
  const send = (sink: Sink) => {
    sink.sent();
    sink.head(200, ['content-type', 'application/json'], 'OK');
    sink.chunk(Buffer.from(JSON.stringify({ choices: [], padding: 'x'.repeat(100_000) })));
    takenWhole = answerBytes.taken;
    sink.end();
    return new UpstreamExchange(sink, NEVER_MS);
  };
  const step = sendingThrough(send, { answerBytes });
  await step.run?.(call);
  expect(takenWhole).toBeGreaterThan(0);
  step.settle?.(call);
  expect(answerBytes.taken).toBe(0);
});

test("of a good answer that came compressed all that is kept is without the gateway's key", async () => {
  const call = chatCall();
  const apiKey = 'the-key-of-a-server';
  call.upstream = { ...call.upstream, apiKey };
  const content = `You sent ${apiKey}, and nothing else.`;
  const packed = gzipSync(JSON.stringify({ choices: [{ index: 0, message: { content } }] }));
  const send = (sink: Sink) => {
    sink.sent();
    sink.head(200, ['content-type', 'application/json', 'content-encoding', 'gzip'], 'OK');
    sink.chunk(packed);
    sink.end();
    return new UpstreamExchange(sink, NEVER_MS);
  };
  const answerBytes = new FairShare({ max: 1024 ** 2, onFull: () => {} });
  await sendingThrough(send, { answerBytes }).run?.(call);
  expect(call.answer?.text).toBe(content.replace(apiKey, '*'.repeat(apiKey.length)));
});

describe('a call that ends before it has a connection', () => {
  const HEADERS_TIMEOUT_MS = 1_000;
  const BODY_BYTES = 100;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const clientLeaves = (call: ProxyCall) => call.leave();
  const upstreamIsLate = () => vi.advanceTimersByTime(HEADERS_TIMEOUT_MS);
  /** As undici does when told to abort in the turn of the connection. */
  const connects = (exchange: UpstreamExchange) =>
    exchange.onConnect((reason) => exchange.onError(reason as Error));
  const fails = (exchange: UpstreamExchange) => exchange.onError(new Error('connect timeout'));

  test.each([
    ['its client leaves', 'connects', clientLeaves, connects, 'sent'],
    ['its client leaves', 'fails to', clientLeaves, fails, 'sent'],
    ['its client leaves at once', 'connects', clientLeaves, connects, 'unsent'],
    ['its upstream is late', 'connects', upstreamIsLate, connects, 'sent'],
    ['its upstream is late', 'fails to', upstreamIsLate, fails, 'sent'],
  ])(
    'as %s keeps its place and its bytes until the socket %s',
    async (_, __, endCall, endSocket, request) => {
      const running = new RunningCalls({ max: 4, onFull: () => {} });
      const bodyBytes = new FairShare({ max: 4 * BODY_BYTES, onFull: () => {} });
      const receive = receiveStep({
        limits: { bodyBytesMax: BODY_BYTES, bodyTimeoutMs: 1_000 },
        bodyBytes,
        retries: new RetryClaims(new FakeClock()),
        continued: new ContinuedSessions(answerStore(new FakeClock())),
      });
      let exchange!: UpstreamExchange;
      const send = (sink: Sink) => {
        exchange = new UpstreamExchange(sink, HEADERS_TIMEOUT_MS);
        return exchange;
      };
      const forward = sendingThrough(send, { running, bodyBytes });
      // One of the tenant's two places is another call's, and so are its bytes.
      running.enter('default', ORIGIN);
      bodyBytes.take('default', BODY_BYTES);
      const call = callOf();
      bodyBytes.take('default', BODY_BYTES);
      call.bodyBytesTaken = BODY_BYTES;
      const ended = forward.run?.(call);
      // It is sent at the end of the turn.
      if (request === 'unsent') endCall(call);
      await turn();
      endCall(call);
      await ended;
      receive.settle?.(call);
      expect([running.enter('default', ORIGIN), bodyBytes.taken]).toEqual([false, 2 * BODY_BYTES]);

      endSocket(exchange);
      // Whatever else may be said of it, nothing is given back twice.
      fails(exchange);
      call.leave();
      expect([running.enter('default', ORIGIN), running.enter('default', ORIGIN)]).toEqual([true, false]);
      expect(bodyBytes.taken).toBe(BODY_BYTES);
    },
  );
});
