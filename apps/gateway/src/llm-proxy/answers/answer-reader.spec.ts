import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { DIALECT_BY_NAME, DIALECT_LIMITS, type Dialect, dialectFor } from '#domain/llm-dialects';
import { AnswerReader } from './answer-reader.js';
import { newRoom } from './answer-room.fixture.js';

const CHAT = dialectFor('openai', 'POST', '/chat/completions') as Dialect;
const EVENT = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n');
const LONG_EVENT = Buffer.from(EVENT.toString().replace('Hello', 'x'.repeat(4_096)));
/** So many of them are read at once. */
const CHUNKS_TOGETHER = 4;
const EVENTS = ['content-type', 'text/event-stream'];

test('events are read together, once the last of them has left for the client', async () => {
  const bytesLeft: number[] = [];
  const server = createServer((request, response) => {
    const watched: Dialect = {
      ...CHAT,
      streamReader() {
        const reader = CHAT.streamReader();
        const push = reader.push.bind(reader);
        reader.push = (chunk) => {
          bytesLeft.push(request.socket.bytesWritten);
          push(chunk);
        };
        return reader;
      },
    };
    const reader = AnswerReader.for(watched, EVENTS, true, newRoom());
    // In a turn of its own each, as an upstream's chunks come.
    const send = (count: number) => {
      reader.push(LONG_EVENT);
      response.write(LONG_EVENT);
      if (count > 1) setImmediate(send, count - 1);
      else response.end();
    };
    setImmediate(send, CHUNKS_TOGETHER);
  }).listen(0);
  await once(server, 'listening');
  const [answer] = (await once(get({ port: (server.address() as AddressInfo).port }), 'response')) as [
    IncomingMessage,
  ];
  answer.resume();
  await once(answer, 'end');
  server.close();
  expect(bytesLeft).toHaveLength(CHUNKS_TOGETHER);
  expect(bytesLeft[0]).toBeGreaterThan(CHUNKS_TOGETHER * LONG_EVENT.length);
});

test('a stream in tiny pieces is read before they are many', async () => {
  let readCount = 0;
  const counting: Dialect = {
    ...CHAT,
    streamReader: () => ({
      ...CHAT.streamReader(),
      keptCount: 0,
      push() {
        readCount += 1;
      },
    }),
  };
  const reader = AnswerReader.for(counting, EVENTS, true, newRoom());
  for (let count = 0; count < 1_000; count += 1) {
    reader.push(Buffer.from('x'));
    await null;
  }
  expect(readCount).toBeGreaterThan(900);
});

test('an answer that ends at once is read whole, in the order it came', () => {
  const reader = AnswerReader.for(CHAT, EVENTS, true, newRoom());
  for (const at of [0, 10, 20, 30]) reader.push(EVENT.subarray(at, at === 30 ? undefined : at + 10));
  expect(reader.finish()).toMatchObject({ text: 'Hello' });
});

test.each(['text/event-stream', 'Text/Event-Stream; charset=UTF-8', 'TEXT/EVENT-STREAM'])(
  'a stream is one however its type is written: %s',
  (type) => {
    const reader = AnswerReader.for(CHAT, ['Content-Type', type], true, newRoom());
    reader.push(EVENT);
    expect(reader.finish()).toMatchObject({ text: 'Hello' });
  },
);

test('a whole answer is read behind a byte order mark, too', () => {
  const reader = AnswerReader.for(CHAT, [], false, newRoom());
  reader.push(Buffer.from('\ufeff{"choices":[{"index":0,"message":{"content":"Hello"}}]}'));
  expect(reader.finish()).toMatchObject({ text: 'Hello' });
});

test('the end of a stream is one only where the dialect says that its streams have an end of their own', () => {
  const ended = (dialect: Dialect): boolean => {
    const reader = AnswerReader.for(dialect, EVENTS, true, newRoom());
    reader.push(Buffer.from('data: [DONE]\n\n'));
    return reader.isComplete;
  };
  expect(ended(CHAT)).toBe(true);
  expect(ended({ ...CHAT, hasStreamEnd: false })).toBe(false);
});

test('a reader that fails leaves the answer unread, and nobody else hurt', async () => {
  const failing: Dialect = {
    ...CHAT,
    streamReader: () => ({
      ...CHAT.streamReader(),
      keptCount: 0,
      push() {
        throw new Error('nobody foresaw this');
      },
    }),
  };
  const reader = AnswerReader.for(failing, EVENTS, true, newRoom());
  for (let count = 0; count < CHUNKS_TOGETHER; count += 1) reader.push(LONG_EVENT);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reader.finish()).toBeNull();
});

describe('a stream that ends without the blank line behind its last event', () => {
  const usage = { input_tokens: 9, output_tokens: 3 };
  const json = JSON.stringify;
  const streams = [
    {
      name: 'openai-chat',
      finish: 'stop',
      last: `data: ${json({
        choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 9, completion_tokens: 3 },
      })}`,
    },
    {
      name: 'openai-responses',
      finish: 'stop',
      last: `event: response.completed\ndata: ${json({
        type: 'response.completed',
        response: {
          status: 'completed',
          output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
          usage,
        },
      })}`,
    },
    {
      name: 'anthropic',
      finish: 'length',
      before: [
        { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 9, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
      ],
      last: `event: message_delta\ndata: ${json({
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens' },
        usage: { output_tokens: 3 },
      })}`,
    },
    {
      name: 'gemini',
      finish: 'stop',
      last: `data: ${json({
        candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
      })}`,
    },
  ] as const;
  function read(name: keyof typeof DIALECT_BY_NAME, text: string) {
    const reader = AnswerReader.for(DIALECT_BY_NAME[name], EVENTS, true, newRoom());
    reader.push(Buffer.from(text));
    return reader.finish();
  }

  describe.each(streams)('of $name', ({ name, finish, last, ...stream }) => {
    const before = 'before' in stream ? stream.before.map((data) => `data: ${json(data)}\n\n`).join('') : '';

    test.each(['', '\n', '\r', '\r\n', '\n\n'])('is read to its end: %j', (end) => {
      expect(read(name, before + last + end)).toMatchObject({ text: 'Hi', finish, usage });
    });

    test('is cut off where half an event is all that came of it', () => {
      const answer = read(name, before + last.slice(0, -1));
      expect(answer).toMatchObject({ finish: null, failed: false, lossless: false });
      expect(answer?.usage?.output_tokens).not.toBe(3);
    });
  });

  test('is lossy where what was cut off came behind its end', () => {
    const [chat, , , gemini] = streams;
    for (const { name, last } of [chat, gemini]) {
      const done = name === 'openai-chat' ? 'data: [DONE]' : '';
      expect(read(name, `${last}\n\n${done}`)).toMatchObject({ finish: 'stop', lossless: true });
      expect(read(name, `${last}\n\ndata: {"id":\n\n${done}`)).toMatchObject({ lossless: false });
      expect(read(name, `${last}\n\ndata: {"id":`)).toMatchObject({ lossless: false });
    }
    const element = gemini.last.slice('data: '.length);
    expect(read('gemini', `[${element}]`)).toMatchObject({ finish: 'stop', lossless: true });
    expect(read('gemini', `[${element},{"candidates":[`)).toMatchObject({ lossless: false });
  });
});

describe('an answer that is very large', () => {
  const MIB = 1024 * 1024;
  const PICTURE = 'A'.repeat(9 * MIB);
  const used = { input_tokens: 9, output_tokens: 3 };
  /** As it comes off a socket. */
  async function read(dialect: Dialect, headers: string[], pieces: Iterable<string>) {
    const reader = AnswerReader.for(dialect, headers, headers === EVENTS, newRoom());
    for (const piece of pieces) {
      const bytes = Buffer.from(piece);
      for (let at = 0; at < bytes.length; at += 65_536) {
        reader.push(bytes.subarray(at, at + 65_536));
        await null;
      }
    }
    return reader.finish();
  }
  const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

  test('is read to its end where it is a stream of many events, in bounded memory', async () => {
    const delta = event({ choices: [{ index: 0, delta: { content: 'many words '.repeat(400) } }] });
    function* events() {
      for (let bytes = 0; bytes < 20 * MIB; bytes += delta.length) yield delta;
      yield event({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] });
      yield event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 5_000_000 } });
      yield 'data: [DONE]\n\n';
    }
    const answer = await read(CHAT, EVENTS, events());
    expect(answer).toMatchObject({
      finish: 'length',
      lossless: false,
      usage: { input_tokens: 9, output_tokens: 5_000_000 },
    });
    expect(answer?.text.startsWith('many words many words')).toBe(true);
    expect(answer?.text).toHaveLength(4 * MIB);
  });

  test('tells its usage where the event that says it is too long to be read', async () => {
    const output = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Here.' }] },
      { type: 'image_generation_call', result: PICTURE },
    ];
    const response = { id: 'resp_1', status: 'completed', output, usage: used, metadata: {} };
    const events = [
      event({ type: 'response.output_text.delta', delta: 'Here.' }),
      event({ type: 'response.completed', response }),
    ];
    const dialect = DIALECT_BY_NAME['openai-responses'];
    expect(await read(dialect, EVENTS, events)).toMatchObject({ text: 'Here.', usage: used });
  });

  test('tells the last of its usage where events before it told of less', async () => {
    const response = (data: string, candidatesTokenCount: number) => ({
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] } }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount },
    });
    const events = [event(response('AA', 1)), event(response(PICTURE, 1_290))];
    const answer = await read(DIALECT_BY_NAME.gemini, EVENTS, events);
    expect(answer?.usage).toMatchObject({ input_tokens: 9, output_tokens: 1_290 });
  });

  test('tells its usage where it comes whole and is too large to be read', async () => {
    const parts = [PICTURE, PICTURE].map((data) => ({ inlineData: { mimeType: 'image/png', data } }));
    const whole = {
      candidates: [{ content: { parts } }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2_580 },
    };
    const answer = await read(DIALECT_BY_NAME.gemini, [], [JSON.stringify(whole)]);
    expect(answer).toMatchObject({
      text: '',
      lossless: false,
      usage: { input_tokens: 9, output_tokens: 2_580 },
    });
    expect(await read(DIALECT_BY_NAME.gemini, [], [PICTURE, PICTURE])).toBeNull();
  });
});

describe('an answer that holds more than anybody reads', () => {
  const { depthMax, valuesMax, namesMax } = DIALECT_LIMITS.json;
  const json = JSON.stringify;
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const MUCH = {
    'nests too deep': nested(DIALECT_LIMITS.shortCharsMax),
    'has too many values': `[${'0,'.repeat(valuesMax)}0]`,
    'has too many names': `{${Array.from({ length: namesMax + 1 }, (_, at) => `"${at}":0`).join()}}`,
  };
  const used = { input_tokens: 9, output_tokens: 3 };
  const choice = { index: 0, finish_reason: 'stop' };
  const chatUsage = { prompt_tokens: 9, completion_tokens: 3 };
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }];
  const response = { status: 'completed', output, usage: used };
  const generated = {
    candidates: [{ content: { parts: [{ text: 'Hello' }] } }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
  };
  const interaction = {
    status: 'completed',
    steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Hello' }] }],
    usage: { total_input_tokens: 9, total_output_tokens: 3 },
  };
  /** Where `beside` stands: what is none of ours to read. */
  const WHOLE = {
    'openai-chat': {
      beside: 0,
      choices: [{ ...choice, message: { role: 'assistant', content: 'Hello' } }],
      usage: chatUsage,
    },
    'openai-responses': { beside: 0, ...response },
    anthropic: { beside: 0, content: [{ type: 'text', text: 'Hello' }], usage: used },
    gemini: { beside: 0, ...generated },
    'gemini-interactions': { beside: 0, ...interaction },
  };
  const LAST_EVENT = {
    ...WHOLE,
    'openai-chat': { beside: 0, choices: [{ ...choice, delta: { content: 'Hello' } }], usage: chatUsage },
    'openai-responses': { type: 'response.completed', response: { beside: 0, ...response } },
    anthropic: { type: 'message_delta', beside: 0, delta: { stop_reason: 'end_turn' }, usage: used },
    'gemini-interactions': {
      event_type: 'interaction.completed',
      interaction: { beside: 0, ...interaction },
    },
  };
  const NAMES = Object.keys(DIALECT_BY_NAME) as (keyof typeof DIALECT_BY_NAME)[];
  const withBeside = (value: object, beside: string) =>
    json(value).replace('"beside":0', `"beside":${beside}`);
  function read(name: keyof typeof DIALECT_BY_NAME, headers: string[], text: string) {
    const reader = AnswerReader.for(DIALECT_BY_NAME[name], headers, true, newRoom());
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 65_536) reader.push(bytes.subarray(at, at + 65_536));
    return reader.finish();
  }

  describe.each(NAMES)('in %s', (name) => {
    const isArray = name === 'gemini';
    const whole = (beside: string) => withBeside(WHOLE[name], beside);
    const event = (beside: string) => `data: ${withBeside(LAST_EVENT[name], beside)}\n\n`;

    test.each(Object.entries(MUCH))('is not parsed where it %s, and tells its usage', (_much, beside) => {
      expect(read(name, [], isArray ? `[${whole(beside)}]` : whole(beside))).toMatchObject({
        text: '',
        finish: null,
        lossless: false,
        usage: used,
      });
    });

    test.each(Object.entries(MUCH))('is read but for the event that %s', (_much, beside) => {
      const answer = read(name, EVENTS, event(beside));
      expect(answer).toMatchObject({ text: '', finish: null, lossless: false, usage: used });
    });

    test('is read whole where it holds as much as may be', () => {
      const beside = nested(depthMax - 2);
      const text = whole(beside);
      expect(read(name, [], isArray ? `[${text}]` : text)).toMatchObject({ text: 'Hello', usage: used });
      const answer = read(name, EVENTS, event(`[${'0,'.repeat(valuesMax - 64)}0]`));
      expect(answer).toMatchObject({ finish: name === 'gemini' ? null : 'stop', usage: used });
    });
  });
});

test.each([
  ['anthropic', '{"type":"message","content":[{"type":"tool_use","name":"hide","input":ARGS}]}', false],
  ['gemini', '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"hide","args":ARGS}}]}}]}', false],
  ['gemini', '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"hide","args":ARGS}}]}}]}', true],
  [
    'gemini-interactions',
    '{"steps":[{"type":"function_call","id":"1","name":"hide","arguments":ARGS}]}',
    false,
  ],
  [
    'gemini-interactions',
    '{"event_type":"step.start","index":0,"step":{"type":"function_call","id":"1","name":"hide","arguments":ARGS}}',
    true,
  ],
] as const)(
  'ids of 64 bits that %s has among arguments keep their digits: %s',
  async (name, body, isStream) => {
    const read = (args: string) => {
      const json = body.replace('ARGS', args);
      const reader = AnswerReader.for(
        DIALECT_BY_NAME[name],
        ['content-type', isStream ? 'text/event-stream' : 'application/json'],
        isStream,
        newRoom(),
      );
      reader.push(Buffer.from(isStream ? `data: ${json}\n\n` : json));
      return reader.finish();
    };
    expect(await read('{"id":1234567890123456701}')).toMatchObject({
      tool_calls: [{ name: 'hide', arguments: '{"id":"1234567890123456701"}' }],
      lossless: false,
    });
    expect(await read('{"id":123}')).toMatchObject({ tool_calls: [{ arguments: '{"id":123}' }] });
  },
);

describe('of the thoughts in an answer without room', () => {
  const MESSAGES = dialectFor('anthropic', 'POST', '/messages') as Dialect;
  const signature = 'EqQBCkYIBxgCKkA=';
  const usage = { input_tokens: 9, output_tokens: 9 };
  const long = `He wrote "type":"thinking","signature":"No". ${'x'.repeat(100_000)}`;

  test.each([
    ['thinking', 'signature'],
    ['redacted_thinking', 'data'],
  ])('the signature is read: %s, whole', (type, name) => {
    const reader = AnswerReader.for(MESSAGES, [], false, newRoom(0));
    const content = [
      { type: 'text', text: 'He wrote "type":"thinking","signature":"No".' },
      { type, [name]: signature },
      { type: 'text', text: long },
      { type, [name]: 'another' },
    ];
    reader.push(Buffer.from(JSON.stringify({ type: 'message', content, usage })));
    expect(reader.finish()).toMatchObject({ thinking_signature: signature, text: '', usage });
  });

  test('the signature is read: streamed', async () => {
    const reader = AnswerReader.for(MESSAGES, EVENTS, true, newRoom(0));
    const send = (event: { type: string }) =>
      reader.push(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    const delta = (index: number, said: object) =>
      send({ type: 'content_block_delta', index, delta: said } as never);
    const start = (index: number, block: object) =>
      send({ type: 'content_block_start', index, content_block: block } as never);
    send({ type: 'message_start', message: { type: 'message', content: [], usage } } as never);
    start(0, { type: 'thinking', thinking: '', signature: '' });
    delta(0, { type: 'signature_delta', signature });
    start(1, { type: 'text', text: '' });
    delta(1, { type: 'text_delta', text: long });
    await Promise.resolve();
    send({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as never);
    send({ type: 'message_stop' });
    expect(reader.finish()).toMatchObject({ thinking_signature: signature, text: '' });
  });
});

test('an id of 64 bits in a call is told apart by its last digit, and an answer without one stays whole', () => {
  const read = (json: string) => {
    const reader = AnswerReader.for(
      dialectFor('anthropic', 'POST', '/v1/messages') as Dialect,
      [],
      false,
      newRoom(),
    );
    reader.push(Buffer.from(json));
    return reader.finish();
  };
  const message = (content: string) =>
    `{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","stop_sequence":null,"content":[${content}],"usage":{"input_tokens":1,"output_tokens":1}}`;
  const call = (id: string) => `{"type":"tool_use","id":"t","name":"f","input":{"id":${id}}}`;
  expect(read(message(call('9007199254740993')))).toMatchObject({
    tool_calls: [{ arguments: '{"id":"9007199254740993"}' }],
    lossless: false,
  });
  expect(read(message(call('7')))).toMatchObject({ tool_calls: [{ arguments: '{"id":7}' }], lossless: true });
});

test('a stream that was asked for comes as a JSON array from Gemini alone', () => {
  const { gemini } = DIALECT_BY_NAME;
  const part = '{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}';
  const streamed = AnswerReader.for(gemini, [], true, newRoom());
  streamed.push(Buffer.from(`[${part},${part}]`));
  expect(streamed.finish()).toMatchObject({ text: 'HiHi' });
  const whole = AnswerReader.for(CHAT, ['content-type', 'application/json'], true, newRoom());
  whole.push(Buffer.from('{"choices":[{"index":0,"message":{"content":"Hi"}}]}'));
  expect(whole.finish()).toMatchObject({ text: 'Hi' });
});
