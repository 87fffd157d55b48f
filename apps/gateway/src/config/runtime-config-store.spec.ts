import { describe, expect, it } from 'vitest';
import { RUNTIME_CONFIG_DEFAULTS } from '#contracts';
import { FakeClock } from '#testing';
import { ADMIN, FakeAccessStore } from '../auth/access.fixture.js';
import { SettingsAudit } from '../auth/settings-audit.js';
import { readEnvironment } from './env.js';
import { RuntimeConfigStore } from './runtime-config-store.js';

async function start(environment: Record<string, string> = {}, store = new FakeAccessStore()) {
  const audit = new SettingsAudit(store, new FakeClock());
  const options = { store, audit, environment: readEnvironment(environment).runtime };
  const config = new RuntimeConfigStore(options);
  await config.load();
  return { config, store };
}

describe('runtime settings', () => {
  it('are the default, over it the environment, over it what an operator has stored', async () => {
    const { config, store } = await start({ ENTROPY_WINDOW_SIZE: '7' });
    expect(config.get('entropy_loop_threshold')).toBe(0.25);
    expect(config.get('entropy_window_size')).toBe(7);
    await config.patch({ entropy_window_size: 9 }, ADMIN);
    expect(config.get('entropy_window_size')).toBe(9);
    const later = await start({ ENTROPY_WINDOW_SIZE: '7' }, store);
    expect(later.config.get('entropy_window_size')).toBe(9);
    await later.config.patch({ entropy_window_size: null }, ADMIN);
    expect(later.config.get('entropy_window_size')).toBe(7);
  });

  it('hand out a value of the wrong type as it is, and say what is in force instead', async () => {
    const store = new FakeAccessStore();
    store.values.set('config.entropy_loop_threshold', 'low');
    const { config } = await start({ ENTROPY_WINDOW_SIZE: 'five', RETENTION_DAYS: '1e1' }, store);
    expect(config.get('entropy_window_size')).toBe('five');
    expect(config.get('entropy_loop_threshold')).toBe('low');
    expect(config.get('retention_days')).toBe(10);
    const { values, warnings } = config.effective();
    expect(values).toEqual({ ...RUNTIME_CONFIG_DEFAULTS, retention_days: 10 });
    expect(warnings).toEqual([
      'ENTROPY_WINDOW_SIZE is "five", which cannot be used; entropy_window_size is 5 instead.',
      'the stored entropy_loop_threshold is "low", which cannot be used; entropy_loop_threshold is 0.25 instead.',
    ]);
  });

  it('are changed with before and after in the audit', async () => {
    const { config, store } = await start();
    const answer = await config.patch({ entropy_tool_key: 'name+input', retention_days: 0 }, ADMIN);
    expect(answer.values).toMatchObject({ entropy_tool_key: 'name+input', retention_days: 0 });
    expect(store.audited).toHaveLength(1);
    expect(store.audited[0]).toMatchObject({
      action: 'config.update',
      operator_id: 'ada',
      detail: {
        before: { entropy_tool_key: 'name', retention_days: 30 },
        after: { entropy_tool_key: 'name+input', retention_days: 0 },
      },
    });
  });

  it.each([
    [{ entropy_window_size: 0 }, ['entropy_window_size']],
    [{ entropy_window_size: '5' }, ['entropy_window_size']],
    [{ entropy_tool_key: 'arguments', retention_days: -1 }, ['entropy_tool_key', 'retention_days']],
    [{ window: 5 }, ['window']],
    ['text', []],
    [{ entropy_loop_threshold: 0.6 }, ['entropy_loop_threshold']],
    [
      { entropy_loop_threshold: 0.6, entropy_warning_threshold: 0.5 },
      ['entropy_loop_threshold', 'entropy_warning_threshold'],
    ],
  ])('refuse %j, naming the fields, and nothing is changed', async (patch, fields) => {
    const { config, store } = await start();
    await expect(config.patch(patch, ADMIN)).rejects.toMatchObject({
      code: 'invalid_fields',
      extra: { fields },
    });
    expect([store.values.size, store.audited.length]).toEqual([0, 0]);
  });

  it('take a request without a body as one that changes nothing, as other routes do', async () => {
    const { config, store } = await start();
    expect(await config.patch(undefined, ADMIN)).toEqual(config.effective());
    expect(store.audited).toEqual([]);
  });

  it('are not written where they are stored so already, or are not stored and shall not be', async () => {
    const { config, store } = await start({ ENTROPY_WINDOW_SIZE: '7' });
    await config.patch({ retention_days: 9 }, ADMIN);
    const before = config.effective();
    expect(await config.patch({ retention_days: 9, entropy_window_size: null }, ADMIN)).toEqual(before);
    expect(store.audited).toHaveLength(1);
    // What the environment says is another thing once it is stored: it stays when the environment changes.
    await config.patch({ retention_days: 9, entropy_window_size: 7 }, ADMIN);
    expect(store.audited[1]?.detail).toEqual({
      before: { entropy_window_size: 7 },
      after: { entropy_window_size: 7 },
    });
    expect((await start({ ENTROPY_WINDOW_SIZE: '5' }, store)).config.get('entropy_window_size')).toBe(7);
  });

  it('take both thresholds in one request, whatever was in force before', async () => {
    const { config } = await start();
    const both = { entropy_loop_threshold: 0.6, entropy_warning_threshold: 0.8 };
    expect((await config.patch(both, ADMIN)).values).toMatchObject(both);
    await expect(config.patch({ entropy_warning_threshold: null }, ADMIN)).rejects.toMatchObject({
      code: 'invalid_fields',
    });
  });

  it('are checked one change after another: of two at once that exclude each other one is refused', async () => {
    const { config } = await start();
    await config.patch({ entropy_loop_threshold: 0.25, entropy_warning_threshold: 0.8 }, ADMIN);
    const outcomes = await Promise.allSettled([
      config.patch({ entropy_loop_threshold: 0.7 }, ADMIN),
      config.patch({ entropy_warning_threshold: 0.3 }, ADMIN),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(config.effective()).toMatchObject({
      values: { entropy_loop_threshold: 0.7, entropy_warning_threshold: 0.8 },
      warnings: [],
    });
  });

  it('are not for an administrator of some tenants, since they hold for all', async () => {
    const { config } = await start();
    const admin = { ...ADMIN, tenant_ids: ['default'] };
    await expect(config.patch({ retention_days: 1 }, admin)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
