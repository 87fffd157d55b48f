import { expect, it } from 'vitest';
import {
  type AuditDraft,
  agentScope,
  alertRuleBodySchema,
  type DocumentWrite,
  type ModelPrice,
  type OperatorPrincipal,
} from '#contracts';
import { FakeClock, FakeTime } from '#testing';
import { incidentOf, startAlerts, WEBHOOK } from '../alerts/alerts.fixture.js';
import { readEnvironment } from '../config/env.js';
import { RuntimeConfigStore } from '../config/runtime-config-store.js';
import { DeskHarness, TENANT } from '../hitl/desk.fixture.js';
import { AgentDirectory } from '../llm-proxy/agents/agent-directory.js';
import { PriceBook } from '../llm-proxy/limits/price-book.js';
import { UpstreamDirectory } from '../llm-proxy/upstreams/upstream-directory.js';
import { ADMIN, FakeAccessStore, startAccess } from './access.fixture.js';
import { SettingsAudit } from './settings-audit.js';

/** What was written by whom, and a change of one thing: the same thing each time, so that the second waits for the first. */
interface Desk {
  audited: readonly AuditDraft[];
  change(by: OperatorPrincipal, at: number): Promise<unknown>;
}

function onDocuments() {
  const audited: AuditDraft[] = [];
  const store = {
    documents: async () => [],
    openIncidents: async () => [],
    commitDocuments: async ({ audit = [] }: DocumentWrite) => void audited.push(...audit),
  };
  const clock = new FakeClock();
  return { audited, parts: { store, clock, audit: new SettingsAudit(new FakeAccessStore(), clock) } };
}

function agents() {
  const { audited, parts } = onDocuments();
  const told = { onPolicy: () => {}, onClosed: () => {}, onUnsaved: () => expect.unreachable() };
  const directory = new AgentDirectory({ ...parts, ...told, timer: new FakeTime() });
  return { audited, directory, scope: agentScope(TENANT, 'crawler') };
}

async function access() {
  const { store, desk } = await startAccess();
  store.audited.length = 0;
  return { audited: store.audited, desk };
}

async function alerts() {
  const { area, store, time } = await startAlerts();
  return { audited: store.audited, area, time };
}

const DESKS: Record<string, () => Desk | Promise<Desk>> = {
  'an agent key': async () => {
    const { audited, desk } = await access();
    return { audited, change: (by, at) => desk.createAgentKey(by, { name: `key ${at}` }) };
  },
  'an operator token': async () => {
    const { audited, desk } = await access();
    return { audited, change: (by, at) => desk.createOperator(by, { name: `token ${at}`, role: 'admin' }) };
  },
  'an upstream': () => {
    const { audited, parts } = onDocuments();
    const secrets = { seal: (text: string) => text, open: (text: string) => text };
    const desk = new UpstreamDirectory({ ...parts, secrets, environment: [], onKeyLost: () => {} });
    const given = (at: number) => ({ baseUrl: `https://${at}.example`, kind: undefined, apiKey: undefined });
    return { audited, change: (by, at) => desk.put(by, 'vllm', given(at)) };
  },
  prices: () => {
    const { audited, parts } = onDocuments();
    const book = new PriceBook(parts);
    const { version } = book.table(TENANT);
    const models = (at: number) => [{ model: 'm', input_usd: at, output_usd: at } as ModelPrice];
    return { audited, change: (by, at) => book.put(by, { version: version + at, models: models(at) }) };
  },
  'the policy of an agent': () => {
    const { audited, directory, scope } = agents();
    return { audited, change: (by, at) => directory.patchPolicy(scope, { budget_day_usd: at + 1 }, by) };
  },
  'the kill switch of an agent': () => {
    const { audited, directory, scope } = agents();
    return { audited, change: (by, at) => directory.patchKillSwitch(scope, { threshold: 20 + at }, by) };
  },
  'an alert rule': async () => {
    const { audited, area } = await alerts();
    const rule = (at: number) => alertRuleBodySchema.parse({ name: `rule ${at}`, type: 'budget' });
    return { audited, change: (by, at) => area.rules.create(by, rule(at)) };
  },
  'who has an alert in hand': async () => {
    const { audited, area, time } = await alerts();
    const incident = incidentOf(time);
    area.monitor.note(incident);
    const ruleId = 'default_kill_switch';
    const body = (at: number) => ({ agent_id: incident.agent_id, acknowledged: at === 0 });
    return { audited, change: (by, at) => area.rules.acknowledge(by, ruleId, body(at)) };
  },
  'an alert channel': async () => {
    const { audited, area } = await alerts();
    return { audited, change: (by, at) => area.channels.create(by, { ...WEBHOOK, name: `channel ${at}` }) };
  },
  settings: () => {
    const store = new FakeAccessStore();
    const audit = new SettingsAudit(store, new FakeClock());
    const config = new RuntimeConfigStore({ store, audit, environment: readEnvironment({}).runtime });
    return { audited: store.audited, change: (by, at) => config.patch({ retention_days: at + 1 }, by) };
  },
  'a command to a session': async () => {
    const h = await DeskHarness.start();
    await h.session();
    return {
      audited: h.store.audit,
      change: (by) => h.desk.execute(by, 's-1', 'inject', { prompt: 'hello' }),
    };
  },
};

it.each(Object.entries(DESKS))(
  'makes no change of %s once the token has ended with which it was asked for, however long it waited',
  async (_kind, start) => {
    const { audited, change } = await start();
    let isInForce = true;
    const first = change(ADMIN, 0);
    const second = change({ ...ADMIN, operator_id: 'eve', isInForce: () => isInForce }, 1);
    isInForce = false;
    await first;
    await expect(second).rejects.toMatchObject({ code: 'unauthorized' });
    expect(audited.map(({ operator_id }) => operator_id)).toEqual(['ada']);
  },
);
