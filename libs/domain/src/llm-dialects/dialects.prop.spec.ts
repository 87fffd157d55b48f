import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const PATH = '/v1beta/models/m:streamGenerateContent?alt=sse';
const FIXTURES = [
  ['openai-chat', 'stream-text'],
  ['openai-chat', 'stream-tools'],
  ['openai-chat', 'stream-error'],
  ['openai-responses', 'stream-tools'],
  ['openai-responses', 'stream-refusal'],
  ['openai-responses', 'stream-failed'],
  ['anthropic', 'stream-tools'],
  ['anthropic', 'stream-error'],
  ['gemini', 'stream-tools'],
  ['gemini', 'stream-array'],
  ['gemini', 'stream-blocked'],
  ['gemini-interactions', 'stream-tools'],
  ['gemini-interactions', 'stream-error'],
] as const;

const stream = (dialect: string, name: string) =>
  readFileSync(new URL(`./${dialect}/fixtures/${name}.chunks.txt`, import.meta.url));

/** Cuts anywhere, inside a UTF-8 sequence too. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

function answerTo(name: (typeof DIALECTS)[number], chunks: readonly Uint8Array[]) {
  const reader = DIALECT_BY_NAME[name].streamReader();
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { ...reader.answer(), isComplete: reader.isComplete, isTruncated: reader.isTruncated };
}

/** JSON with the members that dialects look for, so that odd values come to odd places. */
const names = [
  ...[
    'messages',
    'role',
    'content',
    'type',
    'text',
    'tool_calls',
    'function',
    'name',
    'arguments',
    'id',
    'choices',
  ],
  ...[
    'message',
    'delta',
    'index',
    'usage',
    'error',
    'input',
    'output',
    'instructions',
    'call_id',
    'response',
    'item',
  ],
  ...[
    'system',
    'source',
    'data',
    'contents',
    'parts',
    'functionCall',
    'functionResponse',
    'args',
    'candidates',
  ],
  ...[
    'systemInstruction',
    'system_instruction',
    'steps',
    'step',
    'interaction',
    'event_type',
    'result',
    'generationConfig',
    'tool_use_id',
    'content_block',
    '__proto__',
    'constructor',
    'toString',
  ],
];
const words = [
  ...[
    'user',
    'assistant',
    'model',
    'tool',
    'system',
    'function',
    'text',
    'image',
    'tool_use',
    'tool_result',
    'message',
  ],
  ...[
    'function_call',
    'function_call_output',
    'content_block_start',
    'content_block_delta',
    'message_start',
    'error',
  ],
  ...[
    'text_delta',
    'input_json_delta',
    'response.completed',
    'user_input',
    'model_output',
    'function_result',
    'step.start',
    'step.delta',
    'interaction.completed',
    'response.output_item.added',
    'completed',
    'STOP',
    '',
  ],
];
const { tree: json } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 8, depthIdentifier: 'json' },
    fc.constantFrom<unknown>(...words, null, true, 0, -1, 0.5, 1e300, 3),
    fc.array(tie('tree'), { maxLength: 5, depthIdentifier: 'json' }),
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie('tree')), { maxLength: 6, depthIdentifier: 'json' })
      // As JSON.parse makes it, with __proto__ as a member of its own.
      .map((members) => Object.fromEntries(members)),
  ),
}));
const body = fc.oneof(json, fc.jsonValue());

describe.each(DIALECTS)('the dialect %s', (name) => {
  const dialect = DIALECT_BY_NAME[name];

  it('reads any JSON without throwing, and changes none of it', () => {
    fc.assert(
      fc.property(body, (value) => {
        const before = JSON.stringify(value);
        const request = dialect.readRequest(value, PATH);
        expect(typeof request.newest.user_text).toBe('string');
        for (const { call, text } of request.newest.tool_results) {
          expect(typeof text).toBe('string');
          if (call) expect(call.name).not.toBe('');
        }
        const answer = dialect.readAnswer(value);
        expect(typeof answer.text).toBe('string');
        for (const count of Object.values(answer.usage ?? {})) expect(count).toBeGreaterThanOrEqual(0);
        dialect.injectSystem(value, 'text');
        expect(JSON.stringify(value)).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('reads any events without throwing, and alike however they are cut', () => {
    const end = fc.constantFrom('\n\n', '\r\n\r\n', '\r\r', '\n', '');
    const event = fc.tuple(body, end).map(([value, end]) => `data: ${JSON.stringify(value)}${end}`);
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.array(fc.nat()), (events, places) => {
        const bytes = Buffer.from(events.join(''));
        expect(answerTo(name, cut(bytes, places))).toEqual(answerTo(name, [bytes]));
      }),
      { numRuns: 300 },
    );
  });

  it('reads any bytes without throwing, and alike however they are cut', () => {
    const spice = fc.constantFrom(
      'data: ',
      '\n',
      '\r',
      '[',
      '{"candidates":[',
      '"',
      '}',
      '\ufeff',
      '[DONE]',
      ' ',
    );
    const bytes = fc
      .array(
        fc.oneof(
          fc.uint8Array({ maxLength: 6 }),
          spice.map((text) => new Uint8Array(Buffer.from(text))),
        ),
        { maxLength: 40, size: 'max' },
      )
      .map((pieces) => Buffer.concat(pieces));
    fc.assert(
      fc.property(bytes, fc.array(fc.nat()), (bytes, places) => {
        expect(answerTo(name, cut(bytes, places))).toEqual(answerTo(name, [bytes]));
      }),
      { numRuns: 300 },
    );
  });

  it('gives back the text that it wrote, streamed or not', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, fc.constantFrom('', 'alt=sse', '?alt=sse&key=x'), (text, query) => {
        const written = { id: '1', model: 'm', text, atMs: 1_761_000_000_000, query };
        const expected = { model: 'm', text, tool_calls: [], finish: 'stop', failed: false };
        expect(
          dialect.readAnswer(JSON.parse(dialect.writeAnswer({ ...written, stream: false }).body)),
        ).toMatchObject(expected);
        const { body } = dialect.writeAnswer({ ...written, stream: true });
        const held = body.startsWith('[') ? '' : dialect.keepAliveComment;
        expect(answerTo(name, [Buffer.from(`${held}${body}`)])).toMatchObject({
          ...expected,
          isComplete: true,
          isTruncated: false,
        });
      }),
    );
  });

  it('reads an injected text as system text, and nothing else differently', () => {
    const request = {
      messages: [{ role: 'user', content: 'hi' }],
      input: [{ role: 'user', content: 'hi' }],
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    };
    const before = dialect.readRequest(request, PATH);
    const after = dialect.readRequest(dialect.injectSystem(request, 'Stop.'), PATH);
    expect(after.system_text).toBe('Stop.');
    expect({ ...after, system_text: '', message_count: 1 }).toEqual({ ...before, message_count: 1 });
  });
});

describe('recorded streams', () => {
  it.each(FIXTURES)('of %s, %s, read alike however they are cut', (dialect, name) => {
    const bytes = stream(dialect, name);
    const whole = answerTo(dialect, [bytes]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 60, size: 'max' }), (places) => {
        expect(answerTo(dialect, cut(bytes, places))).toEqual(whole);
      }),
      { numRuns: 60 },
    );
    expect(
      answerTo(
        dialect,
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(whole);
  });
});
