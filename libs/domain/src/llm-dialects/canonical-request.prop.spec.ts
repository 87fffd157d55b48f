/** Nothing of a request is dropped but what stands on the list of excluded fields. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIALECTS, type DialectName } from '#contracts';
import { canonicalJson } from '#kernel';
import { FIELDS_EXCLUDED } from './fields-excluded.js';
import { DIALECT_BY_NAME } from './index.js';

const PATHS: Record<DialectName, string> = {
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
  anthropic: '/v1/messages',
  gemini: '/v1beta/models/m:generateContent',
  'gemini-interactions': '/v1beta/interactions',
};
const formOf = (name: DialectName, body: unknown): string =>
  canonicalJson({ ...DIALECT_BY_NAME[name].canonicalRequest(body, PATHS[name]), dialect: null });

const SCHEMA = { type: 'object', properties: { to: { type: 'string', enum: ['a', 'b'] } }, required: ['to'] };
const EXCLUDED = {
  stream: true,
  stream_options: { include_usage: true },
  user: 'u',
  safety_identifier: 's',
  metadata: { run: 'r' },
};

/** Requests with most of what each API has. */
const REQUESTS: Record<DialectName, object> = {
  'openai-chat': {
    ...EXCLUDED,
    prompt_cache_key: 'k',
    model: 'm',
    temperature: 0.25,
    top_p: 0.5,
    max_completion_tokens: 10,
    max_tokens: 11,
    n: 1,
    seed: 7,
    stop: ['x', 'y'],
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { '50256': -100 },
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    parallel_tool_calls: false,
    service_tier: 'flex',
    reasoning_effort: 'low',
    verbosity: 'low',
    modalities: ['text', 'audio'],
    audio: { voice: 'v', format: 'wav' },
    prediction: { type: 'content', content: 'p' },
    web_search_options: { user_location: { type: 'approximate', approximate: { city: 'c' } } },
    functions: [{ name: 'old' }],
    function_call: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: SCHEMA } },
    tools: [
      { type: 'function', function: { name: 'f', description: 'd', parameters: SCHEMA, strict: true } },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    vendor_field: { deep: [{ er: 1 }] },
    messages: [
      { role: 'system', content: 's', name: 'n' },
      { role: 'developer', content: [{ type: 'text', text: 'd' }] },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_id: 'file_1' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        refusal: 'r',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"to":"a"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'result' },
      { role: 'system', content: 'late' },
      { role: 'user', content: 'b' },
    ],
  },
  'openai-responses': {
    ...EXCLUDED,
    prompt_cache_key: 'k',
    model: 'm',
    temperature: 0.25,
    top_p: 0.5,
    max_output_tokens: 10,
    max_tool_calls: 2,
    instructions: 'i',
    previous_response_id: 'resp_1',
    conversation: { id: 'conv_1' },
    prompt: { id: 'pmpt_1', version: '2', variables: { a: 'b' } },
    background: true,
    include: ['reasoning.encrypted_content'],
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    service_tier: 'flex',
    text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA }, verbosity: 'low' },
    truncation: 'auto',
    top_logprobs: 2,
    context_management: [{ type: 'compaction', compact_threshold: 5 }],
    tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: true }, { type: 'web_search' }],
    tool_choice: { type: 'function', name: 'f' },
    vendor_field: { deep: [{ er: 1 }] },
    input: [
      { role: 'developer', content: 'd' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://example.org/a.png', detail: 'low' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 't' }],
        encrypted_content: 'e',
      },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'b', annotations: [] }],
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"to":"a"}', status: 'completed' },
      { type: 'function_call_output', call_id: 'c1', output: 'result' },
      { type: 'item_reference', id: 'msg_2' },
      { role: 'user', content: 'c' },
    ],
  },
  anthropic: {
    stream: true,
    metadata: { user_id: 'u' },
    cache_control: { type: 'ephemeral' },
    model: 'm',
    temperature: 0.25,
    top_p: 0.5,
    top_k: 5,
    max_tokens: 10,
    stop_sequences: ['x'],
    service_tier: 'auto',
    container: 'c',
    inference_geo: 'eu',
    speed: 'fast',
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
    tools: [
      { name: 'f', description: 'd', input_schema: SCHEMA },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    mcp_servers: [{ type: 'url', url: 'https://example.org', name: 's' }],
    system: [
      { type: 'text', text: 's' },
      { type: 'text', text: 't' },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'd' },
            citations: { enabled: true },
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'text', text: 'b' },
          { type: 'tool_use', id: 'c1', name: 'f', input: { to: 'a', count: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'r' }] },
      { role: 'user', content: 'c' },
    ],
  },
  gemini: {
    labels: { run: 'r' },
    cachedContent: 'cachedContents/1',
    systemInstruction: { role: 'system', parts: [{ text: 's' }] },
    generationConfig: {
      temperature: 0.25,
      topP: 0.5,
      topK: 5,
      maxOutputTokens: 10,
      candidateCount: 1,
      seed: 7,
      stopSequences: ['x'],
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseMimeType: 'application/json',
      responseSchema: SCHEMA,
      responseModalities: ['TEXT'],
      responseLogprobs: true,
      logprobs: 2,
      thinkingConfig: { thinkingBudget: 100, includeThoughts: true },
    },
    safetySettings: [{ category: 'c', threshold: 't' }],
    tools: [{ functionDeclarations: [{ name: 'f', parameters: SCHEMA }] }, { googleSearch: {} }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    vendorField: { deep: [{ er: 1 }] },
    contents: [
      { role: 'user', parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      {
        role: 'model',
        parts: [
          { text: 't', thought: true },
          { functionCall: { name: 'f', args: { to: 'a' } }, thoughtSignature: 's' },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'r' } } }] },
      { parts: [{ text: 'c' }] },
    ],
  },
  'gemini-interactions': {
    stream: true,
    labels: { team: 'a' },
    model: 'm',
    store: false,
    background: false,
    previous_interaction_id: 'v1_0',
    system_instruction: 's',
    service_tier: 'flex',
    cached_content: 'cachedContents/c',
    response_format: { type: 'text', mime_type: 'application/json', schema: SCHEMA },
    safety_settings: [{ category: 'HARM', threshold: 'NONE' }],
    vendor_field: { deep: [{ er: 1 }] },
    tools: [
      { type: 'function', name: 'f', description: 'd', parameters: SCHEMA },
      { type: 'google_search', search_types: ['web_search'] },
    ],
    generation_config: {
      temperature: 0.25,
      top_p: 0.5,
      seed: 7,
      stop_sequences: ['x', 'y'],
      max_output_tokens: 10,
      thinking_level: 'low',
      thinking_summaries: 'auto',
      tool_choice: { allowed_tools: { mode: 'any', tools: ['f'] } },
      image_config: { aspect_ratio: '1:1' },
    },
    input: [
      {
        type: 'user_input',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'AAAA', mime_type: 'image/png', resolution: 'low' },
          { type: 'document', uri: 'gs://a/b', mime_type: 'application/pdf' },
        ],
      },
      { type: 'thought', signature: 'sig', summary: [{ type: 'text', text: 't' }] },
      {
        type: 'model_output',
        content: [{ type: 'text', text: 'm', annotations: [{ type: 'url_citation' }] }],
      },
      { type: 'function_call', id: 'c1', name: 'f', arguments: { to: 'a' } },
      {
        type: 'function_result',
        call_id: 'c1',
        name: 'f',
        is_error: false,
        result: [{ type: 'text', text: 'r' }],
      },
    ],
  },
};

type Path = readonly (string | number)[];

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

function withLeaf(value: unknown, path: Path, change: (leaf: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((member, index) => (index === name ? withLeaf(member, rest, change) : member));
  return Object.fromEntries(
    Object.entries(value as object).map(([key, member]) => [
      key,
      key === name ? withLeaf(member, rest, change) : member,
    ]),
  );
}

function other(leaf: unknown): unknown {
  if (typeof leaf === 'string') return `${leaf}~`;
  if (typeof leaf === 'number') return leaf + 0.001;
  return leaf === null ? 'not null' : !leaf;
}

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reversed(member)] as const);
  return Object.fromEntries(members.reverse());
};

/** Any JSON under names that dialects look for. */
const bodies = (name: DialectName): fc.Arbitrary<Record<string, unknown>> =>
  fc.dictionary(
    fc.constantFrom(...Object.keys(REQUESTS[name]), 'unknown', '__proto__'),
    fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(...Object.values(REQUESTS[name]))),
    { maxKeys: 6, noNullPrototype: true },
  );

describe.each(DIALECTS)('a request of %s in canonical form', (name) => {
  const isExcluded = (field: unknown) => (FIELDS_EXCLUDED[name] as readonly unknown[]).includes(field);
  const leaves = leavesOf(REQUESTS[name]);

  it('differs where any leaf differs, unless it is of an excluded field, and then it does not', () => {
    const form = formOf(name, REQUESTS[name]);
    expect(leaves.length).toBeGreaterThan(40);
    for (const path of leaves) {
      const changed = formOf(name, withLeaf(REQUESTS[name], path, other));
      expect(changed === form, path.join('.')).toBe(isExcluded(path[0]));
    }
  });

  it('differs where a leaf becomes any other value', () => {
    const form = formOf(name, REQUESTS[name]);
    const counted = leaves.filter((path) => !isExcluded(path[0]));
    fc.assert(
      fc.property(fc.constantFrom(...counted), fc.jsonValue(), (path, value) => {
        const changed = withLeaf(REQUESTS[name], path, () => value);
        fc.pre(canonicalJson(changed) !== canonicalJson(REQUESTS[name]));
        expect(formOf(name, changed)).not.toBe(form);
      }),
      { numRuns: 500 },
    );
  });

  it('holds a field that nobody knows, wherever it is, whole', () => {
    const form = formOf(name, REQUESTS[name]);
    const records = leaves.map((path) => path.slice(0, -1)).filter((path) => !isExcluded(path[0]));
    for (const path of records) {
      const changed = formOf(
        name,
        withLeaf(REQUESTS[name], path, (value) =>
          Array.isArray(value) ? [...value, 'new'] : { ...(value as object), new_field: { a: [1] } },
        ),
      );
      expect(changed, path.join('.')).not.toBe(form);
    }
  });

  it('does not depend on the order of keys, and leaves the request as it was', () => {
    fc.assert(
      fc.property(fc.oneof(bodies(name), fc.constant(REQUESTS[name])), (body) => {
        const before = JSON.stringify(body);
        expect(formOf(name, reversed(body))).toBe(formOf(name, body));
        expect(JSON.stringify(body)).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('takes any JSON for a request without throwing, and tells two of them apart by any field that counts', () => {
    fc.assert(
      fc.property(fc.oneof(bodies(name), fc.jsonValue()), fc.jsonValue(), (body, value) => {
        const form = formOf(name, body);
        if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
        fc.pre(value !== null);
        expect(formOf(name, { ...body, new_field: value })).not.toBe(form);
      }),
      { numRuns: 300 },
    );
  });
});
