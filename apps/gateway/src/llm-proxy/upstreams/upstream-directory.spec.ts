import { expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { UPSTREAMS_PER_TENANT_MAX, UpstreamDirectory } from './upstream-directory.js';

function start() {
  const unread = async () => [];
  const directory = new UpstreamDirectory({
    environment: [],
    store: {
      documents: unread,
      saveDocument: () => new Promise(setImmediate),
      deleteDocument: () => new Promise(setImmediate),
    },
    secrets: { seal: (text) => text, open: (text) => text },
    clock: new FakeClock(0),
    onKeyLost: () => {},
  });
  const put = (name: string, apiKey?: string) =>
    directory.put('acme', name, { baseUrl: 'https://vllm.example/v1', kind: undefined, apiKey });
  return { directory, put };
}

it('keeps the new key of an upstream that another operator changes at the same time', async () => {
  const { directory, put } = start();
  await put('vllm', 'leaked');
  await Promise.all([put('vllm', 'rotated'), put('vllm')]);
  expect(directory.find('acme', 'vllm')?.apiKey).toBe('rotated');
});

it('keeps a key that was sealed with another secret, for the start that has it again, until another is given', async () => {
  const stored = { base_url: 'https://vllm.example/v1', kind: 'openai', sealed_key: 'sealed' };
  const keys: unknown[] = [];
  const directory = new UpstreamDirectory({
    environment: [],
    store: {
      documents: async () => [
        { tenant_id: 'acme', kind: 'upstream', id: 'vllm', body: stored, updated_at_ms: 0 },
      ],
      saveDocument: async ({ body }) => void keys.push((body as { sealed_key: string | null }).sealed_key),
      deleteDocument: async () => {},
    },
    secrets: {
      seal: (text) => text,
      open: () => {
        throw new Error('sealed with another key');
      },
    },
    clock: new FakeClock(0),
    onKeyLost: () => {},
  });
  await directory.load();
  const put = (baseUrl: string, apiKey?: string | null) =>
    directory.put('acme', 'vllm', { baseUrl, kind: undefined, apiKey });
  expect((await put('https://vllm.example/v2')).key).toBe('caller');
  await put('https://vllm.example/v3');
  await put('https://elsewhere.example/v3');
  await put('https://vllm.example/v3', 'new');
  expect(keys).toEqual(['sealed', 'sealed', null, 'new']);
});

it('gives one that another operator removes at the same time, and that comes anew, not the key it had', async () => {
  const { directory, put } = start();
  await put('vllm', 'withdrawn');
  await Promise.all([directory.remove('acme', 'vllm'), put('vllm')]);
  expect(directory.find('acme', 'vllm')?.apiKey).toBeNull();
});

it('holds no more of a tenant than it may, however many come at once', async () => {
  const { directory, put } = start();
  const names = Array.from({ length: UPSTREAMS_PER_TENANT_MAX + 10 }, (_, at) => `one-${at}`);
  const outcomes = await Promise.allSettled(names.map((name) => put(name)));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  expect(directory.list('acme').filter(({ source }) => source === 'settings')).toHaveLength(
    UPSTREAMS_PER_TENANT_MAX,
  );
});
