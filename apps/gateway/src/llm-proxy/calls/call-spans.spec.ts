import { describe, expect, test } from 'vitest';
import type { LlmCall } from '#contracts';
import { buildLlmCall } from '#testing';
import type { ProxyCall } from '../proxy-call.js';
import { spansOf } from './call-spans.js';

const PLACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** What a span is told of the call that its record does not hold. */
const callOf = (
  record: LlmCall,
  upstream: Partial<ProxyCall['upstream']>,
  parentSpanId: string | null = null,
) =>
  ({
    upstream: { name: record.upstream, kind: 'openai', origin: 'https://api.example', ...upstream },
    tenantId: 'acme',
    parentSpanId,
    summary: null,
    decision: record.decision,
    status: record.status,
    wasSent: record.decision === 'forwarded',
  }) as unknown as ProxyCall;

const spans = (changes: Partial<LlmCall>, upstream: Partial<ProxyCall['upstream']> = {}) => {
  const record = buildLlmCall({ trace_parent: PLACE, ...changes });
  return spansOf(callOf(record, upstream), record);
};

describe('the spans of a call', () => {
  test.each<[Partial<LlmCall>, string]>([
    [{ dialect: 'openai-chat', model: 'gpt-4o' }, 'chat gpt-4o'],
    [{ dialect: 'anthropic', model: 'claude' }, 'chat claude'],
    [{ dialect: 'gemini', model: 'gemini-2.5-flash' }, 'generate_content gemini-2.5-flash'],
    [{ dialect: null, path: '/embeddings', model: 'e-1' }, 'embeddings e-1'],
    [{ dialect: null, path: '/completions', model: null }, 'text_completion'],
    [
      { dialect: null, method: 'GET', path: '/files/file-123', upstream: 'openai', model: null },
      'GET openai',
    ],
  ])('%j is named %s, and never by an id', (changes, name) => {
    expect(spans(changes)[0]?.name).toBe(name);
  });

  test.each([
    ['openai', 'openai', 'openai'],
    ['openai', 'local_vllm', 'local_vllm'],
    ['anthropic', 'anthropic', 'anthropic'],
    ['gemini', 'gemini', 'gcp.gemini'],
  ] as const)('an upstream of kind %s named %s is provider %s', (kind, name, provider) => {
    expect(spans({}, { kind, name })[0]?.attributes['gen_ai.provider.name']).toBe(provider);
  });

  test.each([
    ['https://api.example', 443],
    ['http://api.example', 80],
    ['http://api.example:8080', 8_080],
  ])('%s is asked at port %s', (origin, port) => {
    const steps = [{ name: 'forward', start_ms: 2, duration_ms: 5, outcome: 'passed' }];
    const [whole, forward] = spans({ steps, started_at_ms: 1_000 }, { origin });
    expect(forward).toMatchObject({
      parentSpanId: whole?.spanId,
      kind: 'client',
      startMs: 1_002,
      durationMs: 5,
      attributes: { 'server.address': 'api.example', 'server.port': port },
    });
  });

  test('names of tools are cut, however many an answer calls and however long they are', () => {
    const tool_calls = Array.from({ length: 512 }, (_, n) => ({
      name: `${n}-${'x'.repeat(100_000)}`,
      arguments_hash: 'h',
    }));
    const names = spans({ tool_calls })[0]?.attributes['observatory.tool_calls'] as string[];
    expect(names[1]).toMatch(/^1-x+$/);
    expect(JSON.stringify(names).length).toBeLessThan(5_000);
  });

  test('a step that failed is in error, and so is the wait for an upstream that failed; a refusal is none', () => {
    const steps = [
      { name: 'policy', start_ms: 0, duration_ms: 1, outcome: 'failed' },
      { name: 'hold', start_ms: 1, duration_ms: 1, outcome: 'passed' },
      { name: 'forward', start_ms: 2, duration_ms: 5, outcome: 'passed' },
    ];
    const errors = (changes: Partial<LlmCall>) => spans({ steps, ...changes }).map(({ error }) => error);
    expect(errors({ decision: 'upstream_failed', status: 502 })).toEqual([
      'upstream_failed',
      'failed',
      null,
      'upstream_failed',
    ]);
    expect(errors({ decision: 'killed', status: 403 })).toEqual([null, 'failed', null, null]);
  });

  test('unknown figures are left out, and nothing at all is told of a trace that nobody records', () => {
    const [whole] = spans({ usage: null, cost_usd: null, kill_score: null, session_id: '', tool_calls: [] });
    expect(Object.values(whole?.attributes ?? {})).not.toContain(null);
    expect(whole?.attributes).not.toHaveProperty('gen_ai.conversation.id');
    expect(spans({ trace_parent: null })).toEqual([]);
    expect(spans({ trace_parent: PLACE.replace(/01$/, '00') })).toEqual([]);
  });
});
