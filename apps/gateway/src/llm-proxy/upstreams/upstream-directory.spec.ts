import { expect, it } from 'vitest';
import type { AuditDraft } from '#contracts';
import { FakeClock } from '#testing';
import { ADMIN, FakeAccessStore } from '../../auth/access.fixture.js';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { UPSTREAMS_PER_TENANT_MAX, UpstreamDirectory } from './upstream-directory.js';

const ACME = { ...ADMIN, tenant_id: 'acme' };

function start() {
  const unread = async () => [];
  const audited: AuditDraft[] = [];
  const directory = new UpstreamDirectory({
    environment: [],
    store: {
      documents: unread,
      commitDocuments: async ({ audit = [] }) => {
        await new Promise(setImmediate);
        audited.push(...audit);
      },
    },
    secrets: { seal: (text) => text, open: (text) => text },
    ...auditOf(),
    onKeyLost: () => {},
  });
  const put = (name: string, apiKey?: string | null, baseUrl = 'https://vllm.example/v1') =>
    directory.put(ACME, name, { baseUrl, kind: undefined, apiKey });
  return { directory, put, audited };
}

function auditOf() {
  const clock = new FakeClock(0);
  return { audit: new SettingsAudit(new FakeAccessStore(), clock), clock };
}

it('is in the audit with what was changed, without a key, and not where nothing was', async () => {
  const { directory, put, audited } = start();
  const added = await put('vllm', 'canary');
  for (const apiKey of ['canary', undefined]) expect(await put('vllm', apiKey)).toEqual(added);
  await put('vllm', null);
  await put('vllm', undefined, 'https://vllm.example/v2');
  await directory.remove(ACME, 'vllm');
  await expect(directory.remove(ACME, 'vllm')).rejects.toMatchObject({ code: 'upstream_not_found' });
  const ofVersion = (version: string, key: string) => [
    'upstream.update',
    { name: 'vllm', base_url: `https://vllm.example/${version}`, key },
  ];
  expect(audited.map(({ action, detail }) => [action, detail])).toEqual([
    ofVersion('v1', 'ours'),
    ofVersion('v1', 'caller'),
    ofVersion('v2', 'caller'),
    ['upstream.delete', { name: 'vllm' }],
  ]);
});

it('keeps all that is not given, of a default, too, and makes none of nothing', async () => {
  const { directory, put } = start();
  const ofKey = (name: string, apiKey: string) =>
    directory.put(ACME, name, { baseUrl: undefined, kind: undefined, apiKey });
  await put('vllm', 'first', 'https://vllm.example/v2');
  expect(await ofKey('vllm', 'second')).toMatchObject({ base_url: 'https://vllm.example/v2', key: 'ours' });
  const [given] = directory.list('acme').filter(({ name }) => name === 'anthropic');
  expect(await ofKey('anthropic', 'own')).toEqual({ ...given, key: 'ours', source: 'settings' });
  await expect(ofKey('unknown', 'third')).rejects.toMatchObject({ code: 'upstream_not_found' });
});

it('that says what a default says is one of the tenant, and stays when the default changes', async () => {
  const { directory, audited } = start();
  const [given] = directory.list('acme').filter(({ name }) => name === 'openai');
  await directory.put(ACME, 'openai', {
    baseUrl: given?.base_url ?? '',
    kind: given?.kind,
    apiKey: undefined,
  });
  expect(directory.find('acme', 'openai')?.source).toBe('settings');
  expect(audited).toHaveLength(1);
});

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
      commitDocuments: async ({ saved = [] }) => {
        for (const { body } of saved) keys.push((body as typeof stored).sealed_key);
      },
    },
    secrets: {
      seal: (text) => text,
      open: () => {
        throw new Error('sealed with another key');
      },
    },
    ...auditOf(),
    onKeyLost: () => {},
  });
  await directory.load();
  const put = (baseUrl: string, apiKey?: string | null) =>
    directory.put(ACME, 'vllm', { baseUrl, kind: undefined, apiKey });
  expect((await put('https://vllm.example/v2')).key).toBe('caller');
  await put('https://vllm.example/v3');
  await put('https://vllm.example/v3');
  await put('https://elsewhere.example/v3');
  await put('https://vllm.example/v3', 'new');
  expect(keys).toEqual(['sealed', 'sealed', null, 'new']);
});

it('gives one that another operator removes at the same time, and that comes anew, not the key it had', async () => {
  const { directory, put } = start();
  await put('vllm', 'withdrawn');
  await Promise.all([directory.remove(ACME, 'vllm'), put('vllm')]);
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
