import { describe, expect, it } from 'vitest';
import {
  type AlertType,
  alertChannelBodySchema,
  alertRuleBodySchema,
  type ControlView,
  type SessionView,
  type StoredDocument,
  sessionKey,
} from '#contracts';
import type { AlertEvent } from '#domain/alerts';
import { deferred } from '#kernel';
import { buildSessionView, FakeTime } from '#testing';
import { ADMIN } from '../auth/access.fixture.js';
import type { AlertsArea } from './alerts.area.js';
import {
  failed,
  incidentOf,
  keepIncident,
  MemoryAlertStore,
  settle,
  startAlerts,
  WEBHOOK,
} from './alerts.fixture.js';

const OTHER = { ...ADMIN, tenant_id: 'other' };
const OTHER_ADMIN = { ...ADMIN, operator_id: 'eve' };
const MAIL = alertChannelBodySchema.parse({
  kind: 'email',
  name: 'Mail',
  to: ['a@example.org', 'b@example.org'],
  from: 'observatory@example.org',
  smtp_host: 'smtp.example.org',
  smtp_port: 587,
  smtp_user: 'observatory',
  smtp_password: 'canary-password',
});
const budget = alertRuleBodySchema.parse({ name: 'Budget', type: 'budget' });

const TERMINATED = { ...buildSessionView().control, state: 'terminated' } as const;

describe('the rules of a tenant that changed none', () => {
  it('are four, shown while they fire, and sent to nobody', async () => {
    const { area, time, sent } = await startAlerts();
    area.monitor.note(incidentOf(time));
    await settle();
    expect(area.rules.list('default')).toMatchObject([
      { rule_id: 'default_kill_switch', channel_ids: [], firing: [{ agent_id: 'crawler', notice_count: 1 }] },
      { rule_id: 'default_entropy_loop', firing: [] },
      { rule_id: 'default_semantic_loop', firing: [] },
      { rule_id: 'default_hitl_required', firing: [] },
    ]);
    expect(area.rules.list('other')[0]?.firing).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('name a hundred of the agents for which they fire, by name, and say how many there are since when', async () => {
    const { area, time } = await startAlerts();
    const sinceMs = time.nowMs();
    for (let at = 249; at >= 100; at -= 1) {
      area.monitor.note(incidentOf(time, `bot-${at}`));
      await time.pass(10);
    }
    const [rule] = area.rules.list('default');
    const names = Array.from({ length: 100 }, (_, at) => `bot-${100 + at}`);
    expect(rule?.firing.map(({ agent_id }) => agent_id)).toEqual(names);
    expect(rule).toMatchObject({ firing_count: 150, firing_since_ms: sinceMs });
    expect(area.rules.list('other')[0]).toMatchObject({ firing_count: 0, firing_since_ms: null });
  });

  it('may be ten that count the calls of every agent, and as many more of one agent each', async () => {
    const { area } = await startAlerts();
    const ofAll = alertRuleBodySchema.parse({ name: 'Errors', type: 'error_rate' });
    const ofOne = { ...ofAll, agent_id: 'crawler' };
    for (let count = 0; count < 10; count += 1)
      await area.rules.create(ADMIN, { ...ofAll, name: `Errors ${count}` });
    const refusal = { code: 'invalid_fields', extra: { fields: ['agent_id'] } };
    await expect(area.rules.create(ADMIN, ofAll)).rejects.toMatchObject(refusal);
    const { rule_id } = await area.rules.create(ADMIN, ofOne);
    await expect(area.rules.update(ADMIN, rule_id, { agent_id: null })).rejects.toMatchObject(refusal);
    const [first] = area.rules.list('default').filter(({ type }) => type === 'error_rate');
    expect(await area.rules.update(ADMIN, first?.rule_id ?? '', { name: 'First' })).toMatchObject({
      name: 'First',
    });
    await area.rules.create(OTHER, ofAll);
    // One that is switched off looks at none.
    await area.rules.update(ADMIN, first?.rule_id ?? '', { enabled: false });
    await area.rules.create(ADMIN, ofAll);
  });

  it('about spending ask for an amount, and look at the calls of every agent like those about failures', async () => {
    const { area } = await startAlerts();
    const spend = alertRuleBodySchema.parse({ name: 'Spend', type: 'spend', threshold_usd: 5 });
    const noAmount = { code: 'invalid_fields', extra: { fields: ['threshold_usd'] } };
    await expect(area.rules.create(ADMIN, { ...spend, threshold_usd: null })).rejects.toMatchObject(noAmount);
    const { rule_id } = await area.rules.create(ADMIN, spend);
    await expect(area.rules.update(ADMIN, rule_id, { threshold_usd: null })).rejects.toMatchObject(noAmount);
    expect(await area.rules.update(ADMIN, rule_id, { threshold_usd: 0.5, period: 'day' })).toMatchObject({
      threshold_usd: 0.5,
      period: 'day',
    });
    for (let count = 1; count < 10; count += 1)
      await area.rules.create(ADMIN, { ...spend, name: `Spend ${count}` });
    const errors = alertRuleBodySchema.parse({ name: 'Errors', type: 'error_rate' });
    await expect(area.rules.create(ADMIN, errors)).rejects.toMatchObject({ extra: { fields: ['agent_id'] } });
  });

  it('about all agents together name none', async () => {
    const { area } = await startAlerts();
    const total = alertRuleBodySchema.parse({ name: 'Total', type: 'total_spend', threshold_usd: 5 });
    const named = { code: 'invalid_fields', extra: { fields: ['agent_id'] } };
    await expect(area.rules.create(ADMIN, { ...total, agent_id: 'bot' })).rejects.toMatchObject(named);
    const { rule_id } = await area.rules.create(ADMIN, total);
    await expect(area.rules.update(ADMIN, rule_id, { agent_id: 'bot' })).rejects.toMatchObject(named);
    await expect(area.rules.update(ADMIN, rule_id, { threshold_usd: null })).rejects.toMatchObject({
      extra: { fields: ['threshold_usd'] },
    });
  });

  it('are no two alike: each would tell the same people the same', async () => {
    const { area } = await startAlerts();
    await area.rules.create(ADMIN, budget);
    const refusal = { code: 'invalid_fields', extra: { fields: ['name'] } };
    await expect(area.rules.create(ADMIN, { ...budget })).rejects.toMatchObject(refusal);
    await area.rules.create(ADMIN, { ...budget, name: 'Another' });
    await area.rules.create(ADMIN, { ...budget, agent_id: 'another' });
    await area.rules.create(OTHER, budget);
  });

  it('stay when one is added, and do not come back once deleted, also after a restart', async () => {
    const { area, store, time } = await startAlerts();
    const made = await area.rules.create(ADMIN, budget);
    expect(area.rules.list('default')).toHaveLength(5);
    for (const rule of area.rules.list('default')) await area.rules.remove(ADMIN, rule.rule_id);
    expect(area.rules.list('default')).toEqual([]);
    const next = await startAlerts({ store, time });
    expect(next.area.rules.list('default')).toEqual([]);
    expect(next.area.rules.list('other')).toHaveLength(4);
    expect(made).toMatchObject({ type: 'budget', cooldown_s: 300, firing: [] });
  });
});

it('rules from before there were any about spending are read as they are', async () => {
  const { area, store, time } = await startAlerts();
  const made = await area.rules.create(ADMIN, budget);
  for (const document of store.docs.values()) {
    const { threshold_usd: _, period: __, ...body } = document.body as Record<string, unknown>;
    if (document.kind === 'alert_rule' && document.id === made.rule_id) document.body = body;
  }
  const next = await startAlerts({ store, time });
  expect(next.area.rules.list('default')).toContainEqual(made);
});

describe('the rules of a tenant that changed some before waits for a person were told of', () => {
  /** As an earlier build left it. */
  const earlier = async (...types: AlertType[]) => {
    const { area, store, time } = await startAlerts();
    for (const type of types) await area.rules.create(ADMIN, alertRuleBodySchema.parse({ name: type, type }));
    await area.rules.remove(ADMIN, 'default_hitl_required');
    await area.rules.remove(ADMIN, 'default_kill_switch');
    const seeded = store.docs.get('default/alert_rule/seeded') as StoredDocument;
    store.docs.set('default/alert_rule/seeded', { ...seeded, body: {} });
    return { store, time };
  };
  const idsOf = ({ rules }: AlertsArea) => rules.list('default').map(({ rule_id }) => rule_id);

  it('are joined by the one for these, until it is deleted, and by none that was', async () => {
    const { store, time } = await earlier();
    const { area } = await startAlerts({ store, time });
    const expected = ['default_entropy_loop', 'default_semantic_loop', 'default_hitl_required'];
    expect(idsOf(area).toSorted()).toEqual(expected.toSorted());
    await area.rules.update(ADMIN, 'default_entropy_loop', { enabled: false });
    expect(idsOf((await startAlerts({ store, time })).area).toSorted()).toEqual(expected.toSorted());
    await area.rules.remove(ADMIN, 'default_hitl_required');
    expect(idsOf((await startAlerts({ store, time })).area)).not.toContain('default_hitl_required');
  });

  it('stay as they are where it has made one itself, also once that is deleted', async () => {
    const { store, time } = await earlier('hitl_required');
    const { area } = await startAlerts({ store, time });
    expect(idsOf(area)).not.toContain('default_hitl_required');
    const own = area.rules.list('default').find(({ type }) => type === 'hitl_required');
    await area.rules.remove(ADMIN, own?.rule_id ?? '');
    expect(idsOf((await startAlerts({ store, time })).area)).not.toContain('default_hitl_required');
  });
});

describe('changing rules', () => {
  it('is audited with what was and what is, and in force at once', async () => {
    const { area, store, time } = await startAlerts();
    await area.rules.update(ADMIN, 'default_kill_switch', { enabled: false });
    expect(store.audited).toMatchObject([
      {
        action: 'alert_rule.update',
        operator_id: 'ada',
        tenant_id: 'default',
        detail: { rule_id: 'default_kill_switch', before: { enabled: true }, after: { enabled: false } },
      },
    ]);
    area.monitor.note(incidentOf(time));
    expect(area.rules.list('default')[0]?.firing).toEqual([]);
  });

  it('to what they are already writes nothing', async () => {
    const { area, store } = await startAlerts();
    const before = area.rules.list('default')[0];
    for (const patch of [{}, { name: undefined }, { name: before?.name, enabled: true, channel_ids: [] }])
      expect(await area.rules.update(OTHER_ADMIN, 'default_kill_switch', patch)).toEqual(before);
    expect([store.audited, [...store.docs]]).toEqual([[], []]);
    await area.rules.update(OTHER_ADMIN, 'default_kill_switch', { name: 'Renamed', enabled: true });
    expect(store.audited).toMatchObject([
      { detail: { before: { name: before?.name }, after: { name: 'Renamed' } } },
    ]);
    expect(store.audited[0]?.detail.after).not.toHaveProperty('enabled');
  });

  it('of two operators at once loses neither change', async () => {
    const { area } = await startAlerts();
    await Promise.all([
      area.rules.update(ADMIN, 'default_kill_switch', { name: 'Renamed' }),
      area.rules.update(ADMIN, 'default_kill_switch', { cooldown_s: 7 }),
    ]);
    expect(area.rules.list('default')[0]).toMatchObject({ name: 'Renamed', cooldown_s: 7 });
  });

  it('does not repeat in full what names no channel', async () => {
    const { area } = await startAlerts();
    const channel_ids = ['x', 'x', ...Array.from({ length: 18 }, (_, at) => `${at}`.padEnd(100, 'y'))];
    const refused = await area.rules.create(ADMIN, { ...budget, channel_ids }).catch((error) => error);
    expect(refused).toMatchObject({ code: 'invalid_fields', extra: { fields: ['channel_ids'] } });
    expect(refused.detail).toContain('tenant: x, 0yyy');
    expect(refused.detail.length).toBeLessThan(900);
  });

  it("refuses a channel that is not the tenant's, and a rule that is not there", async () => {
    const { area } = await startAlerts();
    const { channel } = await area.channels.create(OTHER, WEBHOOK);
    const foreign = { ...budget, channel_ids: [channel.channel_id] };
    await expect(area.rules.create(ADMIN, foreign)).rejects.toMatchObject({ code: 'invalid_fields' });
    const made = await area.rules.create(ADMIN, budget);
    await expect(area.rules.update(OTHER, made.rule_id, {})).rejects.toMatchObject({
      code: 'alert_rule_not_found',
    });
    await expect(area.rules.remove(OTHER, made.rule_id)).rejects.toMatchObject({
      code: 'alert_rule_not_found',
    });
  });
});

describe('a rule that is removed', () => {
  it('says that what it told is over, and nothing after that', async () => {
    const { area, time, sent } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    area.monitor.note(incidentOf(time));
    await settle();
    await area.rules.remove(ADMIN, 'default_kill_switch');
    area.monitor.note(incidentOf(time, 'another'));
    await settle();
    expect(sent.map(({ body }) => JSON.parse(body))).toMatchObject([
      { phase: 'firing', agent_id: 'crawler' },
      { phase: 'recovered', agent_id: 'crawler' },
    ]);
  });
});

const docsAbout = ({ docs }: MemoryAlertStore, agentId: string): StoredDocument[] =>
  [...docs.values()].filter(({ body }) => JSON.stringify(body).includes(agentId));

describe('a process that died while a rule was taken away from agents for which it fires', () => {
  const taken: [string, (area: AlertsArea) => Promise<unknown>][] = [
    ['removed', ({ rules }) => rules.remove(ADMIN, 'default_kill_switch')],
    ['switched off', ({ rules }) => rules.update(ADMIN, 'default_kill_switch', { enabled: false })],
    ['turned to another', ({ rules }) => rules.update(ADMIN, 'default_kill_switch', { agent_id: 'other' })],
  ];
  it.each(taken)('leaves it to the next one to say that it is over, once: %s', async (_, take) => {
    const { area, store: before, time } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    area.monitor.note(incidentOf(time));
    await time.pass(1_000);
    await take(area);
    const store = Object.assign(new MemoryAlertStore(), { docs: new Map(before.docs) });
    await area.stop();
    for (const [id, row] of before.rows) if (row.notice.phase === 'firing') store.rows.set(id, row);

    const next = await startAlerts({ store, time });
    await time.pass(1_000);
    const notices = ({ sent }: typeof next) => sent.map(({ body }) => JSON.parse(body));
    expect(notices(next)).toMatchObject([
      { phase: 'recovered', agent_id: 'crawler', detail: { watch_ended: true } },
    ]);
    expect(next.area.rules.list('default').flatMap(({ firing }) => firing)).toEqual([]);
    expect(notices(await startAlerts({ store, time }))).toEqual([]);
    await time.pass(1_000);
    expect(docsAbout(store, 'crawler')).toEqual([]);
  });

  it('leaves it to the next one to say that it is over, though it began while the removal was written', async () => {
    const { area, store: before, time } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    const removed = area.rules.remove(ADMIN, 'default_kill_switch');
    area.monitor.note(incidentOf(time));
    const store = Object.assign(new MemoryAlertStore(), { docs: new Map(before.docs) });
    for (const [id, row] of before.rows) store.rows.set(id, structuredClone(row));
    await removed;

    const next = await startAlerts({ store, time: new FakeTime(time.nowMs()) });
    await next.time.pass(1_000);
    expect(next.sent.map(({ body }) => JSON.parse(body))).toMatchObject([
      { phase: 'firing', agent_id: 'crawler' },
      { phase: 'recovered', agent_id: 'crawler', detail: { watch_ended: true } },
    ]);
    await next.time.pass(1_000);
    expect([...store.docs.keys()].filter((id) => id.includes('firing:'))).toEqual([]);
  });

  it('leaves it to the next one to say that it is over, though what fires was kept while the removal was written', async () => {
    const { area, store: before, time } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    area.monitor.note(incidentOf(time));
    await settle();
    const commit = before.commitDocuments.bind(before);
    const acknowledged = deferred();
    before.commitDocuments = async (write) => {
      await commit(write);
      await acknowledged.promise;
    };
    const removed = area.rules.remove(ADMIN, 'default_kill_switch');
    await time.pass(1_000);
    const store = Object.assign(new MemoryAlertStore(), { docs: new Map(before.docs) });
    for (const [id, row] of before.rows) store.rows.set(id, structuredClone(row));
    acknowledged.resolve();
    await removed;

    const next = await startAlerts({ store, time: new FakeTime(time.nowMs()) });
    await settle();
    expect(next.sent.map(({ body }) => JSON.parse(body))).toMatchObject([
      { phase: 'recovered', agent_id: 'crawler', detail: { watch_ended: true } },
    ]);
  });

  it.each(taken)(
    'leaves nothing of them on disk where nobody is told that it is over: %s',
    async (_, take) => {
      const { area, store, time } = await startAlerts();
      await area.rules.update(ADMIN, 'default_kill_switch', { notify_recovery: false });
      area.monitor.note(incidentOf(time));
      await time.pass(1_000);
      expect(docsAbout(store, 'crawler')).toHaveLength(1);
      await take(area);
      const next = await startAlerts({ store, time: new FakeTime(time.nowMs()) });
      await next.time.pass(1_000);
      expect(docsAbout(store, 'crawler')).toEqual([]);
    },
  );
});

describe('a channel', () => {
  it('shows where it leads and no secret, nor does the store, the audit or the metrics', async () => {
    const { area, store, metrics } = await startAlerts();
    const { channel, secret } = await area.channels.create(ADMIN, WEBHOOK);
    await area.channels.create(ADMIN, MAIL);
    expect(secret).toBeNull();
    expect(channel).toMatchObject({
      target: 'https://hooks.example.org/...',
      has_secret: true,
      kind: 'webhook',
    });
    expect(area.channels.list('default')[1]).toMatchObject({ target: 'a@example.org, b@example.org' });
    expect(area.channels.list('other')).toEqual([]);
    const seen = [
      area.channels.list('default'),
      [...store.docs.values()],
      store.audited,
      await metrics.metrics(),
    ];
    expect(JSON.stringify(seen)).not.toContain('canary');
  });

  it('without a secret is given one, once', async () => {
    const { area, sent } = await startAlerts();
    const unsigned = alertChannelBodySchema.parse({
      kind: 'webhook',
      name: 'x',
      url: 'https://example.org/',
    });
    const { channel, secret } = await area.channels.create(ADMIN, unsigned);
    expect(secret).toMatch(/^obs_sign_/);
    expect(channel).toMatchObject({ has_secret: true, target: 'https://example.org' });
    await area.channels.test(ADMIN, channel.channel_id);
    expect(sent[0]?.headers['x-observatory-signature']).toBeDefined();
  });

  it('is tested though the receivers of another tenant answer no test', async () => {
    const { area, script } = await startAlerts();
    const [theirs, ours] = [
      await area.channels.create(ADMIN, WEBHOOK),
      await area.channels.create(OTHER, WEBHOOK),
    ];
    const answered = deferred();
    script.answer = () => answered.promise.then(() => ({ ok: true }));
    const tests = Array.from({ length: 8 }, () => area.channels.test(ADMIN, theirs.channel.channel_id));
    const outcomes = Promise.allSettled(tests);
    script.answer = async () => ({ ok: true });
    expect(await area.channels.test(OTHER, ours.channel.channel_id)).toMatchObject({ status: 'ok' });
    answered.resolve();
    const { length } = (await outcomes).filter(({ status }) => status === 'fulfilled');
    expect(length).toBe(4);
    expect(await area.channels.test(ADMIN, theirs.channel.channel_id)).toMatchObject({ status: 'ok' });
  });

  it('keeps what a change does not name', async () => {
    const { area, mails } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, MAIL);
    await area.channels.update(ADMIN, channel.channel_id, { name: 'Renamed', to: ['c@example.org'] });
    await area.channels.test(ADMIN, channel.channel_id);
    expect(mails[0]).toMatchObject({
      to: ['c@example.org'],
      password: 'canary-password',
      host: 'smtp.example.org',
    });
    expect(area.channels.list('default')[0]).toMatchObject({ name: 'Renamed', target: 'c@example.org' });
  });

  it('is changed and woken by what differs alone', async () => {
    const { area, store, time, sent, script } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    script.answer = async () => failed();
    area.monitor.note(incidentOf(time));
    await settle();
    const kept = [area.channels.list('default'), store.audited.length, sent.length, [...store.docs]];
    const { allow_private: _, ...same } = WEBHOOK;
    for (const patch of [{}, { allow_private: false }, same])
      await area.channels.update(OTHER_ADMIN, channel.channel_id, patch);
    await settle();
    expect([area.channels.list('default'), store.audited.length, sent.length, [...store.docs]]).toEqual(kept);
    await area.channels.update(OTHER_ADMIN, channel.channel_id, { ...same, name: 'Renamed' });
    await settle();
    expect(area.channels.list('default')[0]).toMatchObject({ name: 'Renamed', updated_by: 'eve' });
    expect(store.audited.at(-1)?.detail.fields).toEqual(['name']);
    expect(sent).toHaveLength(2);
  });

  it('does not send its password to another server than it was given for', async () => {
    const { area, mails } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, MAIL);
    const move = { smtp_host: 'evil.example.org' };
    await expect(area.channels.update(ADMIN, channel.channel_id, move)).rejects.toMatchObject({
      code: 'invalid_fields',
      extra: { fields: ['smtp_password'] },
    });
    await area.channels.update(ADMIN, channel.channel_id, { ...move, smtp_password: null, smtp_user: null });
    await area.channels.test(ADMIN, channel.channel_id);
    expect(mails[0]).toMatchObject({ host: 'evil.example.org', password: null, user: null });
    // It has none any more.
    await area.channels.update(ADMIN, channel.channel_id, { smtp_host: 'smtp.example.org' });
    await area.channels.test(ADMIN, channel.channel_id);
    expect(mails[1]).toMatchObject({ host: 'smtp.example.org', password: null });
  });

  it('refuses another kind, fields of another kind, and credentials in its address', async () => {
    const { area } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    const refused = { code: 'invalid_fields' };
    const change = (patch: object) => area.channels.update(ADMIN, channel.channel_id, patch);
    await expect(change({ kind: 'slack' })).rejects.toMatchObject(refused);
    await expect(change({ smtp_port: 25 })).rejects.toMatchObject(refused);
    const withUser = { url: 'https://user:pass@example.org/' };
    await expect(change(withUser)).rejects.toMatchObject(refused);
    await expect(area.channels.create(ADMIN, { ...WEBHOOK, ...withUser })).rejects.toMatchObject(refused);
    await expect(area.channels.update(OTHER, channel.channel_id, {})).rejects.toMatchObject({
      code: 'alert_channel_not_found',
    });
  });

  it('is sent a notice once where its rule names it twice', async () => {
    const { area, time, sent } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    const channel_ids = [channel.channel_id, channel.channel_id];
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids });
    area.monitor.note(incidentOf(time));
    await settle();
    expect(sent).toHaveLength(1);
  });

  it('is added to a rule, or taken from it, as the rule is by then: of two who each add one, none loses', async () => {
    const { area, store } = await startAlerts();
    const add = async () => (await area.channels.create(ADMIN, WEBHOOK)).channel.channel_id;
    const [first, second, third] = [await add(), await add(), await add()];
    const change = (patch: object) => area.rules.update(ADMIN, 'default_kill_switch', patch);
    await change({ channel_ids: [first] });
    await Promise.all([change({ add_channel_ids: [second] }), change({ add_channel_ids: [third, first] })]);
    expect(area.rules.list('default')[0]?.channel_ids).toEqual([first, second, third]);
    expect(store.audited.at(-1)?.detail).toMatchObject({
      before: { channel_ids: [first, second] },
      after: { channel_ids: [first, second, third] },
    });
    await change({ remove_channel_ids: [first, 'gone'], cooldown_s: 7 });
    expect(area.rules.list('default')[0]).toMatchObject({ channel_ids: [second, third], cooldown_s: 7 });
    await expect(change({ add_channel_ids: ['gone'] })).rejects.toMatchObject({
      extra: { fields: ['channel_ids'] },
    });
  });

  it('is taken out of the rules when it is removed', async () => {
    const { area, time, sent } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    await area.channels.remove(ADMIN, channel.channel_id);
    expect(area.rules.list('default')[0]?.channel_ids).toEqual([]);
    area.monitor.note(incidentOf(time));
    await settle();
    expect(sent).toEqual([]);
  });

  it('and a rule are what they were, and the audit too, where the store takes no change of them', async () => {
    const { area, store } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    const { channel_id } = channel;
    const rule = await area.rules.create(ADMIN, { ...budget, channel_ids: [channel_id] });
    const before = { docs: [...store.docs], audited: [...store.audited] };
    store.isFull = true;
    const changes = [
      () => area.channels.create(ADMIN, MAIL),
      () => area.channels.update(ADMIN, channel_id, { name: 'Other' }),
      () => area.channels.remove(ADMIN, channel_id),
      () => area.rules.create(ADMIN, { ...budget, name: 'Other' }),
      () => area.rules.update(ADMIN, rule.rule_id, { name: 'Other' }),
      () => area.rules.remove(ADMIN, rule.rule_id),
    ];
    for (const change of changes) await expect(change()).rejects.toThrow('store_full');
    expect(area.channels.list('default')).toEqual([channel]);
    expect(area.rules.list('default').filter(({ type }) => type === 'budget')).toEqual([rule]);
    expect({ docs: [...store.docs], audited: store.audited }).toEqual(before);
  });

  it('says how a test went, and why not', async () => {
    const { area, script, store } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    expect(await area.channels.test(ADMIN, channel.channel_id)).toEqual({
      status: 'ok',
      detail: 'The receiver took it.',
      duration_ms: 0,
    });
    script.answer = async () => failed('it answers 403', false);
    expect(await area.channels.test(ADMIN, channel.channel_id)).toMatchObject({
      status: 'failed',
      detail: 'Not delivered: it answers 403.',
    });
    expect(store.rows.size).toBe(0);
    expect(store.audited.at(-1)).toMatchObject({ action: 'alert_channel.test', detail: { ok: false } });
  });

  it('of which a test reached only some recipients says so, and so does a delivery', async () => {
    const { area, time, script, store } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, MAIL);
    const shortfall = 'the mail server refused these recipients: b@example.org';
    script.answer = async () => ({ ok: true, shortfall });
    expect(await area.channels.test(ADMIN, channel.channel_id)).toMatchObject({
      status: 'failed',
      detail: `Delivered in part: ${shortfall}.`,
    });
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    area.monitor.note(incidentOf(time));
    await settle();
    expect([...store.rows.values()]).toMatchObject([{ state: 'delivered', last_error: shortfall }]);
  });

  it('that is changed or removed while its test is put into the audit is sent none where it was', async () => {
    const store = new MemoryAlertStore();
    const { area, sent } = await startAlerts({ store });
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    const append = store.commitControl.bind(store);
    let written = deferred();
    store.commitControl = (write) => written.promise.then(() => append(write));
    const test = area.channels.test(ADMIN, channel.channel_id);
    const url = 'https://elsewhere.example.org/';
    await area.channels.update(OTHER_ADMIN, channel.channel_id, { url });
    written.resolve();
    expect(await test).toMatchObject({ status: 'ok' });
    expect(sent.map((one) => one.url)).toEqual([url]);

    written = deferred();
    const late = area.channels.test(ADMIN, channel.channel_id);
    await area.channels.remove(OTHER_ADMIN, channel.channel_id);
    written.resolve();
    await expect(late).rejects.toMatchObject({ code: 'alert_channel_not_found' });
    expect(store.audited.at(-1)).toMatchObject({
      action: 'alert_channel.test',
      outcome: 'alert_channel_not_found',
    });
    expect(sent).toHaveLength(1);
  });

  it('is in the audit before its test is sent, and is sent none where the store takes no line', async () => {
    const { area, script, store, sent } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    const outcomes = () =>
      store.audited.filter(({ action }) => action === 'alert_channel.test').map(({ outcome }) => outcome);
    const before: string[][] = [];
    script.answer = async () => {
      before.push(outcomes());
      return { ok: true };
    };
    await area.channels.test(ADMIN, channel.channel_id);
    expect([before, outcomes()]).toEqual([[['begun']], ['begun', 'ok']]);

    store.isFull = true;
    await expect(area.channels.test(ADMIN, channel.channel_id)).rejects.toThrow('store_full');
    expect(sent).toHaveLength(1);
  });
});

describe('after a restart', () => {
  it('what was firing goes on firing, nobody is told twice, and its end is said', async () => {
    const first = await startAlerts();
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    await first.area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [channel.channel_id] });
    keepIncident(first.store, incidentOf(first.time));
    first.area.monitor.note(incidentOf(first.time));
    await settle();
    await first.time.pass(1_000);
    await settle();

    const next = await startAlerts({ store: first.store, time: first.time });
    await next.time.pass(2_000);
    await settle();
    expect(next.sent).toEqual([]);
    expect(next.area.rules.list('default')[0]?.firing).toMatchObject([{ agent_id: 'crawler' }]);
    const event = { kind: 'reactivated', tenant_id: 'default', agent_id: 'crawler' } as const;
    next.area.monitor.note({ ...event, session_id: null, at_ms: next.time.nowMs() });
    await settle();
    expect(JSON.parse(next.sent[0]?.body ?? '{}')).toMatchObject({ phase: 'recovered' });
  });

  it('a rule names no channel that is gone: an older build deleted it, and knew nothing of the rule', async () => {
    const first = await startAlerts();
    const [gone, kept] = [
      await first.area.channels.create(ADMIN, WEBHOOK),
      await first.area.channels.create(ADMIN, { ...WEBHOOK, name: 'Still there' }),
    ].map(({ channel }) => channel.channel_id) as [string, string];
    const spend = { ...budget, type: 'spend', threshold: null, threshold_usd: 5 } as const;
    const { rule_id } = await first.area.rules.create(ADMIN, { ...spend, channel_ids: [gone, kept] });
    await first.store.commitDocuments({
      deleted: [{ tenant_id: 'default', kind: 'alert_channel', id: gone }],
    });
    const { area } = await startAlerts({ store: first.store, time: first.time });
    expect(area.rules.list('default').find((rule) => rule.rule_id === rule_id)?.channel_ids).toEqual([kept]);
  });

  it('a name that was taken once stays, and its channel is sent to', async () => {
    const names = ['Budget\n2', 'On call \ud83d'] as const;
    const first = await startAlerts();
    const { rule_id } = await first.area.rules.create(ADMIN, { ...budget, name: names[0] });
    const { channel } = await first.area.channels.create(ADMIN, { ...WEBHOOK, name: names[1] });
    const { area } = await startAlerts({ store: first.store, time: first.time });
    expect(area.rules.list('default').find((rule) => rule.rule_id === rule_id)?.name).toBe(names[0]);
    expect(await area.channels.test(ADMIN, channel.channel_id)).toMatchObject({ status: 'ok' });
    await expect(area.channels.update(ADMIN, channel.channel_id, { name: 'On call' })).resolves.toMatchObject(
      { name: 'On call' },
    );
  });

  const WAITS: ControlView = {
    ...buildSessionView().control,
    state: 'paused',
    operator_id: 'system',
    reason: 'hitl_required',
    asked_by: ['clerk'],
    held_count: 1,
  };
  const firingAgents = ({ rules }: AlertsArea) =>
    rules.list('default').flatMap(({ firing }) => firing.map(({ agent_id }) => agent_id));

  it('a wait tells when its pause expires, and what becomes of the session then', async () => {
    const { area, time, sent } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    await area.rules.update(ADMIN, 'default_hitl_required', { channel_ids: [channel.channel_id] });
    const expires_at_ms = time.nowMs() + 30 * 60_000;
    area.sessions.noteControl(sessionKey('default', 's1'), { ...WAITS, expires_at_ms });
    await settle();
    expect(JSON.parse(sent[0]?.body ?? '{}').text).toMatch(
      / its pause expires in 30 min and the session goes on\.$/,
    );
  });

  it('a wait that ends while the rest is read is none', async () => {
    const views = ['s1', 's2'].map((session_id) =>
      buildSessionView({ session_id, control: { ...WAITS, asked_by: [session_id] } }),
    );
    const store = new MemoryAlertStore();
    store.openIncidents = async () => {
      Object.assign(views[0] as SessionView, { control: { ...WAITS, state: 'expired', asked_by: [] } });
      return [];
    };
    expect(firingAgents((await startAlerts({ store, sessions: views })).area)).toEqual(['s2']);
  });

  it('a wait goes on that is older than all sessions in memory, and is that of the agents that asked', async () => {
    const key = sessionKey('default', 'old');
    const control = { ...WAITS, operator_id: 'ana', reason: 'to look', asked_by: ['clerk', 'planner'] };
    const { area } = await startAlerts({ paused: [[key, control]] });
    expect(firingAgents(area)).toEqual(['clerk', 'planner']);
    area.sessions.noteControl(key, { ...control, state: 'active', asked_by: [] });
    expect(firingAgents(area)).toEqual([]);
  });

  const looping = (time: FakeTime, sessionId: string) =>
    buildSessionView({
      agent_id: 'looper',
      session_id: sessionId,
      severity: 'loop',
      last_seen_ms: time.nowMs(),
    });
  const loop = ({ last_seen_ms, ...view }: SessionView) =>
    ({ kind: 'step', tenant_id: 'default', ...view, at_ms: last_seen_ms }) as unknown as AlertEvent;

  /** One of its channels has heard of what fires, and that is kept; the other is `late`. */
  async function toldOne() {
    const { area, store, time } = await startAlerts();
    const [early, late] = [
      await area.channels.create(ADMIN, WEBHOOK),
      await area.channels.create(ADMIN, { ...WEBHOOK, name: 'Nights' }),
    ].map(({ channel }) => channel.channel_id) as [string, string];
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [early] });
    keepIncident(store, incidentOf(time));
    area.monitor.note(incidentOf(time));
    await settle();
    await time.pass(2_000);
    await settle();
    return { area, store, time, late };
  }

  it.each([['ended'], ['died in that moment']])(
    'a rule tells channels that were new to it while it was muted, though the process %s',
    async (how) => {
      const { area, store, time, late } = await toldOne();
      const muted_until_ms = time.nowMs() + 60_000;
      await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [late], muted_until_ms });
      const docs = new Map(store.docs);
      await area.stop();
      if (how !== 'ended') for (const [id, document] of docs) store.docs.set(id, document);

      const next = await startAlerts({ store, time });
      await time.pass(59_000);
      await settle();
      expect(next.sent).toEqual([]);
      await time.pass(2_000);
      await settle();
      expect(next.sent.map(({ body }) => JSON.parse(body))).toMatchObject([{ phase: 'firing' }]);
    },
  );

  it('a rule that told channels new to it has told them once, though the process died in that moment', async () => {
    const { area, store, time, late } = await toldOne();
    await area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: [late] });
    await settle();

    const next = await startAlerts({ store, time });
    await time.pass(2_000);
    expect(next.area.rules.list('default')[0]?.firing).toMatchObject([{ notice_count: 1 }]);
    expect(next.sent).toEqual([]);
  });

  it('a rule that was switched off without a word says none when the next process begins, whatever it would say by then', async () => {
    const { area, store, time } = await startAlerts();
    const { channel } = await area.channels.create(ADMIN, WEBHOOK);
    const patch = { channel_ids: [channel.channel_id], notify_recovery: false };
    await area.rules.update(ADMIN, 'default_kill_switch', patch);
    area.monitor.note(incidentOf(time));
    await settle();
    await time.pass(1_000);
    await settle();
    await area.rules.update(ADMIN, 'default_kill_switch', { enabled: false });
    await area.rules.update(ADMIN, 'default_kill_switch', { notify_recovery: true });

    const next = await startAlerts({ store, time });
    await time.pass(2_000);
    expect(next.sent).toEqual([]);
  });

  it('a loop that was told is not told again, though the last process died before it had kept that it was', async () => {
    const first = await startAlerts();
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    const patch = { channel_ids: [channel.channel_id], cooldown_s: 0 };
    await first.area.rules.update(ADMIN, 'default_entropy_loop', patch);
    const views = [looping(first.time, 's1')];
    first.area.monitor.note(loop(looping(first.time, 's1')));
    await settle();
    expect(first.sent).toHaveLength(1);

    const next = await startAlerts({ store: first.store, time: first.time, sessions: views });
    await next.time.pass(2_000);
    await settle();
    expect(next.sent).toEqual([]);
    expect(next.area.rules.list('default')[1]?.firing).toMatchObject([
      { agent_id: 'looper', notice_count: 1 },
    ]);
    next.area.monitor.note(loop(looping(next.time, 's2')));
    await settle();
    expect(next.sent.map(({ body }) => JSON.parse(body))).toMatchObject([
      { session_id: 's2', phase: 'firing' },
    ]);
    // What was made up for is kept.
    await next.time.pass(1_000);
    await settle();
    first.store.rows.clear();
    const third = await startAlerts({
      store: first.store,
      time: first.time,
      sessions: [...views, looping(first.time, 's2')],
    });
    expect(third.area.rules.list('default')[1]?.firing).toMatchObject([{ notice_count: 2 }]);
    await settle();
    expect(third.sent).toEqual([]);
  });

  it('a loop that goes on is not told again for another that its agent was in, whose session an operator ended', async () => {
    const first = await startAlerts();
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    await first.area.rules.update(ADMIN, 'default_entropy_loop', { channel_ids: [channel.channel_id] });
    const views = ['s1', 's2'].map((id) => looping(first.time, id));
    for (const view of views) first.area.monitor.note(loop(view));
    first.area.sessions.noteControl(sessionKey('default', 's2'), TERMINATED);
    await first.time.pass(1_000);
    await settle();
    expect(first.sent).not.toEqual([]);

    const sessions = views.map((view) =>
      view.session_id === 's2' ? { ...view, control: TERMINATED } : view,
    );
    const next = await startAlerts({ store: first.store, time: first.time, sessions });
    await next.time.pass(1_000);
    await settle();
    expect(next.sent).toEqual([]);
    expect(next.area.rules.list('default')[1]?.firing).toMatchObject([{ agent_id: 'looper' }]);
  });

  it('what fires is kept though the store refused that for a moment: a restart tells only that it is over', async () => {
    const first = await startAlerts();
    const { store, time } = first;
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    await first.area.rules.update(ADMIN, 'default_entropy_loop', { channel_ids: [channel.channel_id] });
    const view = looping(time, 's1');
    first.area.monitor.note(loop(view));
    await settle();
    store.isFull = true;
    await time.pass(1_000);
    store.isFull = false;
    await time.pass(2_000);
    // Behind more notices than a start looks through.
    store.rows.clear();

    const next = await startAlerts({ store, time, sessions: [view] });
    next.area.sessions.noteControl(sessionKey('default', 's1'), TERMINATED);
    await settle();
    expect(next.sent.map(({ body }) => JSON.parse(body).phase)).toEqual(['recovered']);
  });

  it.each([
    ['where only its end was not kept', 1_000],
    ['though it began in the same millisecond, as in one batch of steps', 0],
  ])(
    'an alert that ended is not ended again, nor does it fire before its cooldown is over, %s',
    async (_, lastedMs) => {
      const first = await startAlerts();
      const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
      const patch = { channel_ids: [channel.channel_id], cooldown_s: 300 };
      await first.area.rules.update(ADMIN, 'default_entropy_loop', patch);
      const view = looping(first.time, 's1');
      first.area.monitor.note(loop(view));
      await settle();
      await first.time.pass(lastedMs);
      await settle();
      first.area.sessions.noteControl(sessionKey('default', 's1'), TERMINATED);
      await settle();
      expect(first.sent).toHaveLength(2);

      const next = await startAlerts({ store: first.store, time: first.time });
      await next.time.pass(2_000);
      await settle();
      expect(next.area.rules.list('default')[1]?.firing).toEqual([]);
      next.area.monitor.note(loop(looping(next.time, 's2')));
      await settle();
      expect(next.sent).toEqual([]);
      await next.time.pass(300_000);
      await settle();
      expect(next.sent.map(({ body }) => JSON.parse(body))).toMatchObject([{ phase: 'firing' }]);
    },
  );

  it('a thousand loops that were told in one second are not told again', async () => {
    const first = await startAlerts();
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    const patch = { channel_ids: [channel.channel_id], cooldown_s: 0 };
    await first.area.rules.update(ADMIN, 'default_entropy_loop', patch);
    const views = Array.from({ length: 1_000 }, (_, n) => ({
      ...looping(first.time, `s${n}`),
      agent_id: `a${n}`,
    }));
    for (const view of views) first.area.monitor.note(loop(view));
    await settle();
    expect(first.store.rows.size).toBe(1_000);

    const next = await startAlerts({ store: first.store, time: first.time, sessions: views });
    await settle();
    expect(next.store.rows.size).toBe(1_000);
  });

  it('an alert that was told while the clock was ahead does not fire once more when it is over', async () => {
    const ahead = new FakeTime();
    await ahead.pass(3_600_000);
    const first = await startAlerts({ time: ahead });
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    const patch = { channel_ids: [channel.channel_id], cooldown_s: 0 };
    await first.area.rules.update(ADMIN, 'default_entropy_loop', patch);
    const view = looping(ahead, 's1');
    first.area.monitor.note(loop(view));
    await ahead.pass(1_000);
    await first.area.stop();

    const { store } = first;
    const time = new FakeTime();
    const next = await startAlerts({ store, time, sessions: [view] });
    next.area.sessions.noteControl(sessionKey('default', 's1'), TERMINATED);
    await settle();
    await time.pass(1_000);
    await next.area.stop();
    const phases = () => [...store.rows.values()].map(({ notice }) => notice.phase);
    expect(phases()).toEqual(['firing', 'recovered']);

    const third = await startAlerts({ store, time });
    expect(third.area.rules.list('default')[1]?.firing).toEqual([]);
    await time.pass(2_000);
    await settle();
    expect(phases()).toEqual(['firing', 'recovered']);
  });

  it('what is on disk for one of two channels only is told again: the other has heard nothing', async () => {
    const first = await startAlerts();
    const ids: string[] = [];
    for (const name of ['One', 'Two'])
      ids.push((await first.area.channels.create(ADMIN, { ...WEBHOOK, name })).channel.channel_id);
    await first.area.rules.update(ADMIN, 'default_entropy_loop', { channel_ids: ids, cooldown_s: 0 });
    const view = looping(first.time, 's1');
    first.area.monitor.note(loop(view));
    await settle();
    const [lost] = [...first.store.rows.values()].filter(({ channel_id }) => channel_id === ids[1]);
    first.store.rows.delete(lost?.delivery_id ?? '');

    const next = await startAlerts({ store: first.store, time: first.time, sessions: [view] });
    await settle();
    expect(next.sent).toHaveLength(2);
  });

  it('a budget that refused a call goes on refusing, though a smaller call goes through', async () => {
    const first = await startAlerts();
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    const { rule_id } = await first.area.rules.create(ADMIN, {
      ...budget,
      channel_ids: [channel.channel_id],
    });
    const spend = (refused: 'month' | null) => ({
      kind: 'spend' as const,
      tenant_id: 'default',
      agent_id: 'crawler',
      session_id: null,
      at_ms: first.time.nowMs(),
      budgets: [{ period: 'month' as const, spent_usd: 3, budget_usd: 10 }],
      refused,
    });
    first.area.monitor.note(spend('month'));
    await settle();
    await first.time.pass(1_000);
    await settle();
    expect(first.sent).toHaveLength(1);

    const next = await startAlerts({ store: first.store, time: first.time });
    next.area.monitor.note(spend(null));
    next.area.monitor.note(spend('month'));
    await next.time.pass(2_000);
    await settle();
    expect(next.sent).toEqual([]);
    expect(next.area.rules.list('default').find((rule) => rule.rule_id === rule_id)?.firing).toMatchObject([
      { agent_id: 'crawler', notice_count: 1 },
    ]);
  });

  it('an incident that was told, and again, is repeated after its time and not by the start', async () => {
    const first = await startAlerts();
    const { store, time } = first;
    const { channel } = await first.area.channels.create(ADMIN, WEBHOOK);
    const patch = { channel_ids: [channel.channel_id], cooldown_s: 0, repeat_s: 300 };
    await first.area.rules.update(ADMIN, 'default_kill_switch', patch);
    const stopped = incidentOf(time);
    keepIncident(store, stopped);
    first.area.monitor.note(stopped);
    await time.pass(302_000);
    expect(first.sent).toHaveLength(2);
    await first.area.stop();

    await time.pass(60_000);
    const next = await startAlerts({ store, time });
    await time.pass(230_000);
    expect(next.sent).toEqual([]);
    await time.pass(10_000);
    expect(next.sent.map(({ body }) => JSON.parse(body).phase)).toEqual(['repeat']);
  });

  it('an incident that was stored and never told is told; an old one is not', async () => {
    const store = new MemoryAlertStore();
    const { time } = await startAlerts({ store });
    keepIncident(store, { ...incidentOf(time), at_ms: time.nowMs() - 60_000 });
    keepIncident(store, { ...incidentOf(time, 'older'), at_ms: time.nowMs() - 3_600_000 });
    const { area } = await startAlerts({ store, time });
    expect(area.rules.list('default')[0]?.firing.map(({ agent_id }) => agent_id)).toEqual(['crawler']);
  });

  it('agents of sessions from before it are missed, and their loops told where they were not', async () => {
    const store = new MemoryAlertStore();
    const { area, time } = await startAlerts({ store });
    const silent = alertRuleBodySchema.parse({ name: 'Silent', type: 'agent_silent', window_s: 60 });
    await area.rules.create(ADMIN, silent);
    const last_seen_ms = time.nowMs() - 30_000;
    const views = [
      buildSessionView({ agent_id: 'quiet', session_id: 's1', ended: true, last_seen_ms }),
      buildSessionView({ agent_id: 'looper', session_id: 's2', severity: 'loop', last_seen_ms }),
    ];
    const next = await startAlerts({ store, time, sessions: views });
    const firing = (type: string) => {
      const rules = next.area.rules.list('default').filter((rule) => rule.type === type);
      return rules.flatMap((rule) => rule.firing.map(({ agent_id }) => agent_id));
    };
    expect(firing('entropy_loop')).toEqual(['looper']);
    await time.pass(59_000);
    expect(firing('agent_silent')).toEqual([]);
    await time.pass(2_000);
    expect(firing('agent_silent')).toEqual(['looper', 'quiet']);
  });

  it('an agent whose session was paused before it is not missed until somebody resumes it', async () => {
    const store = new MemoryAlertStore();
    const { area, time } = await startAlerts({ store });
    const silent = alertRuleBodySchema.parse({ name: 'Silent', type: 'agent_silent', window_s: 60 });
    const { rule_id } = await area.rules.create(ADMIN, silent);
    const view = buildSessionView({ agent_id: 'quiet', session_id: 's1', last_seen_ms: time.nowMs() });
    const control = { ...view.control, state: 'paused' as const };
    const next = await startAlerts({ store, time, sessions: [{ ...view, control }] });
    const firing = () => next.area.rules.list('default').find((rule) => rule.rule_id === rule_id)?.firing;
    await time.pass(120_000);
    expect(firing()).toEqual([]);
    next.area.sessions.noteControl(sessionKey('default', 's1'), { ...control, state: 'active' });
    await time.pass(62_000);
    expect(firing()).toMatchObject([{ agent_id: 'quiet' }]);
  });

  it('agents that an operator stopped, or whose last session was terminated, before it are not missed', async () => {
    const store = new MemoryAlertStore();
    const { area, time } = await startAlerts({ store });
    const silent = alertRuleBodySchema.parse({ name: 'Silent', type: 'agent_silent', window_s: 60 });
    const { rule_id } = await area.rules.create(ADMIN, silent);
    const seen = (agent_id: string) =>
      buildSessionView({ agent_id, session_id: `of-${agent_id}`, last_seen_ms: time.nowMs() });
    const ended = seen('ended');
    const control = { ...ended.control, state: 'terminated' as const };
    const sessions = [seen('stopped'), { ...ended, control }, seen('missed')];
    const next = await startAlerts({ store, time, sessions, inactive: new Set(['stopped']) });
    await time.pass(120_000);
    const silentNow = next.area.rules.list('default').find((rule) => rule.rule_id === rule_id);
    expect(silentNow?.firing).toMatchObject([{ agent_id: 'missed' }]);
  });

  it('an agent whose last session was terminated is not missed, though that session had left memory', async () => {
    const { area, time } = await startAlerts();
    const silent = alertRuleBodySchema.parse({ name: 'Silent', type: 'agent_silent', window_s: 60 });
    const { rule_id } = await area.rules.create(ADMIN, silent);
    for (const agent_id of ['ended', 'missed'])
      area.monitor.note({
        kind: 'step',
        tenant_id: 'default',
        agent_id,
        session_id: `of-${agent_id}`,
        at_ms: time.nowMs(),
        severity: 'normal',
        ended: false,
      });
    area.sessions.noteControl(sessionKey('default', 'of-ended'), TERMINATED);
    await time.pass(120_000);
    const silentNow = area.rules.list('default').find((rule) => rule.rule_id === rule_id);
    expect(silentNow?.firing).toMatchObject([{ agent_id: 'missed' }]);
  });

  it('a session that an operator ends is in no loop any more, though it had left memory', async () => {
    const { area, time } = await startAlerts();
    const at_ms = time.nowMs();
    const event = { tenant_id: 'default', agent_id: 'crawler', session_id: 's1', at_ms } as const;
    area.monitor.note({ kind: 'severity', ...event, severity: 'loop' });
    expect(area.rules.list('default')[1]?.firing).toHaveLength(1);
    area.sessions.noteControl(sessionKey('default', 's1'), TERMINATED);
    expect(area.rules.list('default')[1]?.firing).toEqual([]);
  });
});
