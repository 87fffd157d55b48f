import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gemini } from './gemini.js';

const bytes = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const json = (name: string) => JSON.parse(bytes(name).toString('utf8'));
const PATH = '/v1beta/models/gemini-2.5-flash:generateContent';
const read = (contents: unknown) => gemini.readRequest({ contents }, PATH);

function readStream(chunks: string | Uint8Array) {
  const reader = gemini.streamReader();
  reader.push(typeof chunks === 'string' ? Buffer.from(chunks) : chunks);
  return reader;
}

const ANSWER = {
  model: 'gemini-2.5-flash',
  text: 'I\'ll look for Gdańsk "}]{.',
  tool_calls: [{ id: null, name: 'find_trains', arguments: '{"to":"Gdańsk"}' }],
  chars_beside: 'thinking'.length,
  finish: 'tool_calls',
  usage: {
    input_tokens: 100,
    cached_input_tokens: 40,
    cache_write_tokens: 0,
    output_tokens: 50,
    reasoning_tokens: 20,
  },
  failed: false,
  answer_id: 'r1',
  // Thoughts are left out of it.
  lossless: false,
};

describe('generateContent requests', () => {
  it('matches results with calls by name and order', () => {
    expect(gemini.readRequest(json('request-tools.json'), PATH)).toEqual({
      model: 'gemini-2.5-flash',
      stream: false,
      system_text: 'You book trains.\nPrefer direct ones.',
      first_user_text: 'Two seats to Gdańsk.',
      newest: {
        user_text: '',
        tool_results: [
          {
            call: { id: null, name: 'find_trains', arguments: '{"to":"Gdańsk"}' },
            text: 'IC 5302 at 09:14',
            failed: false,
          },
          {
            call: { id: null, name: 'find_trains', arguments: '{"to":"Sopot"}' },
            text: 'no such station',
            failed: true,
          },
          {
            call: { id: null, name: 'weather', arguments: '{"city":"Gdańsk"}' },
            text: '{"sky":"rain","degrees":12}',
            failed: false,
          },
        ],
        attachment_digests: [],
      },
      output_tokens_max: 400,
      choice_count: 1,
      message_count: 3,
    });
  });

  it('matches by id where the client sends ids, in any order', () => {
    const call = (id: string) => ({ functionCall: { id, name: 'f', args: { id } } });
    const result = (id: string) => ({ functionResponse: { id, name: 'f', response: {} } });
    const { newest } = read([
      { role: 'model', parts: [call('1'), call('2')] },
      { role: 'user', parts: [result('2'), result('1')] },
    ]);
    expect(newest.tool_results.map((each) => each.call?.id)).toEqual(['2', '1']);
  });

  it('reads snake_case as well, contents without a role, and files by digest', () => {
    const request = gemini.readRequest(
      {
        system_instruction: { parts: [{ text: 'sys' }] },
        contents: [
          {
            parts: [{ text: 'hi' }, { file_data: { file_uri: 'gs://a' } }, { inline_data: { data: 'AAAA' } }],
          },
        ],
        generation_config: { max_output_tokens: 7, candidate_count: 2 },
      },
      PATH,
    );
    expect(request).toMatchObject({ system_text: 'sys', first_user_text: 'hi' });
    expect(request).toMatchObject({ output_tokens_max: 14, choice_count: 2 });
    expect(request.newest.user_text).toBe('hi');
    expect(request.newest.attachment_digests).toHaveLength(2);
  });

  it.each([
    ['/v1beta/models/gemini-2.5-flash:streamGenerateContent', 'gemini-2.5-flash', true],
    ['/v1/models/a:generateContent?key=x&alt=sse', 'a', false],
    ['/v1/projects/p/locations/l/publishers/google/models/b:generateContent', 'b', false],
    ['/v1beta/tunedModels/c:generateContent', 'c', false],
    ['/v1beta/models/org%2Fd:streamGenerateContent', 'org/d', true],
  ])('reads model and streaming from %s', (path, model, stream) => {
    expect(gemini.readRequest({}, path)).toMatchObject({ model, stream });
  });

  it('injects at the end of the system instruction, in the spelling that is there', () => {
    const request = json('request-tools.json');
    const before = structuredClone(request);
    const injected = gemini.injectSystem(request, 'Stop.') as typeof request;
    expect(injected.systemInstruction.parts).toEqual([...before.systemInstruction.parts, { text: 'Stop.' }]);
    expect(request).toEqual(before);
    const snake = { system_instruction: { role: 'user', parts: [{ text: 'a' }] } };
    expect(gemini.injectSystem(snake, 'b')).toEqual({
      system_instruction: { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
    });
    expect(gemini.injectSystem({ ...snake, systemInstruction: null }, 'b')).toEqual({
      system_instruction: { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      systemInstruction: null,
    });
    expect(gemini.injectSystem({}, 'b')).toEqual({ systemInstruction: { parts: [{ text: 'b' }] } });
    for (const odd of [null, [], { systemInstruction: 7 }, { systemInstruction: { parts: 7 } }]) {
      expect(gemini.injectSystem(odd, 'b')).toBe(odd);
    }
  });

  it('injects before the contents where a cached content rules an instruction out', () => {
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    expect(gemini.injectSystem({ cachedContent: 'cachedContents/1', contents }, 'Stop.')).toEqual({
      cachedContent: 'cachedContents/1',
      contents: [{ role: 'user', parts: [{ text: 'Stop.' }] }, ...contents],
    });
    // One in place of a list.
    expect(
      gemini.injectSystem({ cachedContent: 'cachedContents/1', contents: contents[0] }, 'Stop.'),
    ).toEqual({
      cachedContent: 'cachedContents/1',
      contents: [{ role: 'user', parts: [{ text: 'Stop.' }] }, ...contents],
    });
    const without = { cachedContent: 'cachedContents/1' };
    expect(gemini.injectSystem(without, 'Stop.')).toBe(without);
  });
});

describe('generateContent answers', () => {
  it('reads text and calls without thoughts, and counts thoughts as output', () => {
    expect(gemini.readAnswer(json('answer-tools.json'))).toEqual(ANSWER);
  });

  it('reads errors, bare or in the array that a stream is, as failures', () => {
    const error = { error: { code: 429, message: 'x', status: 'RESOURCE_EXHAUSTED' } };
    expect(gemini.readAnswer(error).failed).toBe(true);
    expect(gemini.readAnswer([error]).failed).toBe(true);
  });

  it('keeps model and usage of a stream whose later pieces name none', () => {
    const named = { modelVersion: 'gemini-2.5-flash', usageMetadata: { promptTokenCount: 4 } };
    const last = { candidates: [{ finishReason: 'STOP' }] };
    expect(gemini.readAnswer([named, last])).toMatchObject({
      model: 'gemini-2.5-flash',
      usage: { input_tokens: 4 },
      finish: 'stop',
    });
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'filtered'],
    ['PROHIBITED_CONTENT', 'filtered'],
    ['MALFORMED_FUNCTION_CALL', 'other'],
  ])('reads the finish reason %s as %s', (finishReason, finish) => {
    expect(gemini.readAnswer({ candidates: [{ finishReason }] }).finish).toBe(finish);
  });
});

describe('streamGenerateContent', () => {
  it.each(['stream-tools.chunks.txt', 'stream-array.chunks.txt'])(
    'gathers the same answer from %s',
    (name) => {
      const reader = readStream(bytes(name));
      expect(reader.answer()).toEqual(ANSWER);
      expect(reader.isComplete).toBe(true);
    },
  );

  it('reads a blocked prompt as filtered', () => {
    expect(readStream(bytes('stream-blocked.chunks.txt')).answer()).toMatchObject({
      text: '',
      finish: 'filtered',
    });
  });

  it.each([
    ['thoughts that are counted in the total alone', { totalTokenCount: 1_010 }, 1_000, 0],
    [
      'thoughts that are counted by themselves',
      { thoughtsTokenCount: 900, totalTokenCount: 1_010 },
      1_000,
      900,
    ],
    ['a total that is too small', { thoughtsTokenCount: 900, totalTokenCount: 110 }, 1_000, 900],
  ])('counts as output %s', (_what, more, output_tokens, reasoning_tokens) => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 100, ...more };
    const { usage } = gemini.readAnswer({ candidates: [], usageMetadata });
    expect(usage).toMatchObject({ input_tokens: 10, output_tokens, reasoning_tokens });
  });

  it('counts as input what tools of the vendor put into the prompt', () => {
    const told = { promptTokenCount: 10, toolUsePromptTokenCount: 90, totalTokenCount: 105 };
    const { usage } = gemini.readAnswer({ usageMetadata: { ...told, candidatesTokenCount: 5 } });
    expect(usage).toMatchObject({ input_tokens: 100, output_tokens: 5 });
  });

  it('ends as failed on an error, in either format', () => {
    const error = '{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}';
    for (const stream of [`data: ${error}\n\n`, `[${error}]`, error, `[{"candidates":[]}\n,\n${error}\n]`]) {
      expect(readStream(stream).answer()).toMatchObject({ failed: true, finish: null });
    }
  });

  it('counts what further candidates write, and thoughts that are shown', () => {
    const piece = (index: number, ...parts: object[]) => ({ index, content: { parts } });
    const first = piece(0, { text: 'hm', thought: true }, { text: 'a' });
    const stream = [
      { candidates: [first, piece(1, { text: 'other' })] },
      { candidates: [piece(2, { functionCall: { name: 'f', args: { a: 1 } } })] },
    ];
    const answer = readStream(JSON.stringify(stream)).answer();
    expect(answer).toMatchObject({ text: 'a', tool_calls: [], lossless: false });
    expect(answer.chars_beside).toBe('hmotherf{"a":1}'.length);
    expect(gemini.readAnswer(stream).chars_beside).toBe(answer.chars_beside);
  });

  it('ignores half an element, and one that is not JSON', () => {
    const part = (text: string) => JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] });
    const reader = readStream(`[${part('a')},{"candidates":nope},${part('b')},${part('c').slice(0, -1)}`);
    expect(reader.answer().text).toBe('ab');
    expect(reader.isComplete).toBe(false);
  });
});
