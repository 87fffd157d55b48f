import { describe, expect, it } from 'vitest';
import type { CanonicalMessage, CanonicalRequest } from '#contracts';
import { SCOPE_PROMPT_CHARS_MAX, SCOPE_PROMPT_WORDS_MAX } from './cache-prompt.js';
import { answerHeaders, type CacheWhere, cacheIdentity } from './index.js';

const WHERE = { tenantId: 't', upstream: 'openai' };
const says = (role: string, ...parts: CanonicalMessage['parts']): CanonicalMessage => ({
  role,
  parts,
  extra: null,
});
const image = { vendor: 'openai-chat', value: { type: 'image_url', image_url: { url: 'x' } } } as const;

const request = (more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  dialect: 'openai-chat',
  model: 'm',
  system: [says('system', 'Be brief.')],
  messages: [says('user', 'hi')],
  temperature: 0,
  tools: null,
  tool_choice: null,
  max_tokens: null,
  rest: {},
  ...more,
});
const key = (more: Partial<CanonicalRequest>, where: CacheWhere = WHERE) =>
  cacheIdentity(request(more), where)?.key ?? null;
const scope = (more: Partial<CanonicalRequest>, where: CacheWhere = WHERE) =>
  cacheIdentity(request(more), where)?.scope() ?? null;
const turnedAround = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).reverse()) : value;
const asks = (text: string) => scope({ messages: [says('user', text)] });

describe('the cache key', () => {
  it('[15] does not change from one version to the next: old entries would be lost without a word', () => {
    expect(key({})).toBe('4dace94d76c3d4c9b8d2b9cd1345aaa1937e20ef0f482794ca716172728cf0f9');
  });

  it('[16] tells models apart, by case and version too', () => {
    const keys = ['gpt-4o', 'gpt-4o-mini', 'gpt-4o-2024-08-06', 'GPT-4o', ''].map((model) => key({ model }));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('[17] tells temperatures apart in every decimal, and an absent one from 0', () => {
    const keys = [0, 0.001, 0.004, 0.1 + 0.2, 0.3, null].map((temperature) => key({ temperature }));
    expect(new Set(keys).size).toBe(keys.length);
    expect(key({ temperature: -0 })).toBe(key({ temperature: 0 }));
  });

  it('is no key where JSON.parse has rounded a number, or nesting has no end', () => {
    for (const rounded of ['9007199254740993', '-9007199254740993', '1e400', '18446744073709551615']) {
      expect(key({ rest: JSON.parse(`{"seed":${rounded}}`) })).toBeNull();
      expect(key({ tools: { vendor: 'openai-chat', value: JSON.parse(`[[{"a":${rounded}}]]`) } })).toBeNull();
    }
    expect(key({ rest: { seed: Number.MAX_SAFE_INTEGER, top_p: 1e-300 } })).not.toBeNull();
    expect(key({ rest: JSON.parse(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`) })).toBeNull();
  });

  it('tells texts apart that have no UTF-8, short or long', () => {
    const texts = ['\ud800', '\ud801', '\ufffd', '"\\ud800"'];
    for (const before of ['', 'x'.repeat(40), 'x'.repeat(400)]) {
      const keys = texts.map((text) => key({ messages: [says('user', before + text)] }));
      expect(new Set(keys).size).toBe(texts.length);
    }
  });

  it('does not let one text run into the next, at any length', () => {
    for (const size of [1, 31, 32, 255, 256, 257, 70_000, 600_000]) {
      const [one, two] = ['a'.repeat(size), 'é'.repeat(size)];
      const keys = [
        [says('user', one, two)],
        [says('user', one + two)],
        [says('user', two, one)],
        [says('user', one), says('user', two)],
        [says('user', `${one}s`, two)],
      ].map((messages) => key({ messages }));
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it('tells values of other kinds, names and nesting apart, and no order of names', () => {
    const many = Object.fromEntries([...'abcdefghijklmnopqrstuvwxyz'].map((name, at) => [name, at]));
    const rests: CanonicalRequest['rest'][] = [
      ...[true, false, null, 0, 1, '', '0', '1', [], {}, [null], [[]]].map((a) => ({ a })),
      ...[{ b: 1 }, { a: [[1], 2] }, { a: [[1, 2]] }, { a: [1, [2]] }, { a: [[1, [2]]] }, { a: ['b', 1] }],
      ...[
        { a: { b: 1 }, c: 2 },
        { a: { b: 1, c: 2 } },
        { a: { c: 1, b: 2 } },
        { a: [{}, 1] },
        { a: [{ b: 1 }] },
      ],
      ...[many, { ...many, z: 0 }, { a: 0, more: many }],
    ];
    expect(new Set(rests.map((rest) => key({ rest }))).size).toBe(rests.length);
    for (const rest of [many, { a: 1, b: { d: 2, c: 3 } }])
      expect(key({ rest: JSON.parse(JSON.stringify(rest), turnedAround) })).toBe(key({ rest }));
  });

  it('keeps a member called __proto__', () => {
    expect(key({ rest: JSON.parse('{"__proto__":1}') })).not.toBe(key({}));
  });

  it('covers the headers that change an answer, in any case and order, and no others', () => {
    const of = (...headers: string[]) => key({}, { ...WHERE, headers: answerHeaders(headers) });
    expect(of('anthropic-beta', 'a')).not.toBe(of('anthropic-beta', 'b'));
    expect(of('Anthropic-Beta', 'a', 'OpenAI-Beta', 'x')).toBe(of('openai-beta', 'x', 'anthropic-beta', 'a'));
    expect(of('anthropic-beta', 'a', 'anthropic-beta', 'b')).toBe(of('anthropic-beta', 'a, b'));
    expect(of('authorization', 'Bearer k', 'x-request-id', '7', 'user-agent', 'sdk')).toBe(of());
    expect(of()).toBe(key({}));
  });

  it.each([
    ...['traceparent', 'tracestate', 'baggage', 'b3', 'X-B3-TraceId', 'x-b3-sampled', 'sentry-trace'],
    ...['x-datadog-trace-id', 'x-datadog-tags', 'uber-trace-id', 'uberctx-tenant', 'newrelic', 'x-instana-t'],
    ...['X-Amzn-Trace-Id', 'X-Cloud-Trace-Context', 'grpc-trace-bin', 'elastic-apm-traceparent', 'sw8'],
    ...['x-correlation-id', 'X-Request-ID', 'request-id', 'x-trace-id', 'x-ms-client-request-id'],
    ...[
      'CF-Ray',
      'cf-connecting-ip',
      'cdn-loop',
      'x-amz-cf-id',
      'x-azure-ref',
      'fly-request-id',
      'x-vercel-id',
    ],
    ...['true-client-ip', 'x-envoy-attempt-count', 'x-request-start', 'x-original-forwarded-for'],
  ])('does not cover %s, which tells calls apart and says nothing of their answers', (name) => {
    expect(answerHeaders([name, 'one', 'anthropic-beta', 'a'])).toEqual({ 'anthropic-beta': 'a' });
  });

  it.each(['cf-aig-metadata', 'x-b3', 'request', 'x-datadog', 'newrelic-model'])(
    'covers %s, which is named like one of them',
    (name) => {
      expect(answerHeaders([name, 'one'])).toEqual({ [name]: 'one' });
    },
  );

  it('does not depend on the dialect that a request came in', () => {
    expect(key({ dialect: 'openai-responses' })).toBe(key({}));
  });
});

describe('the scope of a semantic match', () => {
  it('is the same for another last question, and the prompt is that question', () => {
    expect(asks('How tall is it?')).toEqual({
      scope: asks('How high is it?')?.scope,
      prompt: 'How tall is it?',
    });
    expect(asks('How tall is it?')?.scope).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, Partial<CanonicalRequest>]>([
    ['model', { model: 'other' }],
    ['system prompt', { system: [says('system', 'Be long.')] }],
    ['role of the system prompt', { system: [says('developer', 'Be brief.')] }],
    ['tools', { tools: { vendor: 'openai-chat', value: [{ name: 'f' }] } }],
    ['tool choice', { tool_choice: 'none' }],
    ['max tokens', { max_tokens: 10 }],
    ['response format', { rest: { 'openai-chat.response_format': { type: 'json_object' } } }],
    ['seed', { rest: { seed: 1 } }],
    ['earlier conversation', { messages: [says('user', 'a'), says('assistant', 'b'), says('user', 'hi')] }],
    ['text before the question, in its own message', { messages: [says('user', 'context', 'hi')] }],
  ])('is another for another %s', (_, more) => {
    expect(scope(more)?.scope).toMatch(/^[0-9a-f]{64}$/);
    expect(scope(more)?.scope).not.toBe(scope({})?.scope);
  });

  it('is another for another tenant and another upstream', () => {
    const of = (tenantId: string, upstream: string) => scope({}, { tenantId, upstream })?.scope;
    expect(new Set([of('t', 'openai'), of('u', 'openai'), of('t', 'other')]).size).toBe(3);
  });

  it.each<[string, Partial<CanonicalRequest>]>([
    ['a temperature above 0', { temperature: 0.001 }],
    ['no temperature, which is the vendor’s default', { temperature: null }],
    ['no message', { messages: [] }],
    ['the model’s word last', { messages: [says('user', 'hi'), says('assistant', '{')] }],
    ['a tool’s result last', { messages: [says('tool', 'hi')] }],
    ['an image beside the text', { messages: [says('user', image, 'hi')] }],
    ['an image in place of the text', { messages: [says('user', image)] }],
    [
      'a name beside the text',
      {
        messages: [{ ...says('user', 'hi'), extra: { vendor: 'openai-chat', value: { name: 'Ann' } } }],
      },
    ],
    ['no text', { messages: [says('user')] }],
    ['blanks', { messages: [says('user', ' \n ')] }],
    ['what is no message', { messages: [{ role: null, parts: ['hi'], extra: null }] }],
    ['a response that the vendor keeps under its id', { dialect: 'openai-responses', rest: { store: true } }],
    ['a completion that the vendor keeps under its id', { dialect: 'openai-chat', rest: { store: true } }],
    ['a rounded number', { rest: { seed: 2 ** 60 } }],
  ])('is none with %s', (_, more) => {
    expect(scope(more)).toBeNull();
  });

  it('is none above the bounds on a prompt, where each sign is a word if words are not parted', () => {
    expect(asks('word '.repeat(SCOPE_PROMPT_WORDS_MAX))).not.toBeNull();
    expect(asks('word '.repeat(SCOPE_PROMPT_WORDS_MAX + 1))).toBeNull();
    expect(asks('语'.repeat(SCOPE_PROMPT_WORDS_MAX))).not.toBeNull();
    expect(asks('语'.repeat(SCOPE_PROMPT_WORDS_MAX + 1))).toBeNull();
    // Whatever parts them, and whether or not all of it is ASCII.
    const parted = (count: number) =>
      Array.from(
        { length: count },
        (_, at) => `w\x1f${'\t\n\v\f\r '.repeat(2).slice(at % 6, (at % 6) + 1 + (at % 3))}`,
      );
    for (const before of ['', '\n', 'é', 'é ']) {
      const more = before === 'é ' ? 1 : 0;
      expect(asks(before + parted(SCOPE_PROMPT_WORDS_MAX - more).join(''))).not.toBeNull();
      expect(asks(before + parted(SCOPE_PROMPT_WORDS_MAX - more + 1).join(''))).toBeNull();
    }
    expect(asks('w'.repeat(SCOPE_PROMPT_CHARS_MAX))).not.toBeNull();
    expect(asks('w'.repeat(SCOPE_PROMPT_CHARS_MAX + 1))).toBeNull();
  });
});
