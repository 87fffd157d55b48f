import { describe, expect, it } from 'vitest';
import { acknowledgeBodySchema } from '#contracts';
import { ADMIN } from '../auth/access.fixture.js';
import {
  incidentOf,
  keepIncident,
  MemoryAlertStore,
  settle,
  startAlerts,
  WEBHOOK,
} from './alerts.fixture.js';

const EVE = { ...ADMIN, operator_id: 'eve' };
const RULE = 'default_kill_switch';
const TAKE = acknowledgeBodySchema.parse({ agent_id: 'crawler' });
const HAND_BACK = { ...TAKE, acknowledged: false };

/** It fires for the crawler, and says so every minute. */
async function startFiring() {
  const alerts = await startAlerts();
  const { area, store, time, sent } = alerts;
  const { channel } = await area.channels.create(ADMIN, WEBHOOK);
  await area.rules.update(ADMIN, RULE, {
    channel_ids: [channel.channel_id],
    cooldown_s: 0,
    repeat_s: 60,
  });
  const event = incidentOf(time);
  keepIncident(store, event);
  area.monitor.note(event);
  await settle();
  const pass = async (ms: number) => {
    await time.pass(ms);
    await settle();
  };
  return { ...alerts, pass, told: () => sent.splice(0).map(({ body }) => JSON.parse(body).phase) };
}

const inHandsOf = ({ area }: Pick<Awaited<ReturnType<typeof startAlerts>>, 'area'>) =>
  area.rules.list('default').find(({ rule_id }) => rule_id === RULE)?.firing[0]?.acknowledged;

describe('an alert that somebody acknowledges', () => {
  it('is in their hands, in the audit, and not repeated until it is handed back', async () => {
    const alerts = await startFiring();
    const { area, store, time, pass, told } = alerts;
    expect(told()).toEqual(['firing']);
    const acknowledged = { by: ADMIN.operator_id, at_ms: time.nowMs() };
    expect(await area.rules.acknowledge(ADMIN, RULE, TAKE)).toMatchObject({ firing: [{ acknowledged }] });
    expect(store.audited.at(-1)).toMatchObject({
      operator_id: ADMIN.operator_id,
      action: 'alert_rule.acknowledge',
      detail: { rule_id: RULE, name: 'Kill switch fired', agent_id: 'crawler', acknowledged: true },
    });
    await settle();
    expect(told()).toEqual(['acknowledged']);
    await pass(61_000);
    expect(told()).toEqual([]);
    await area.rules.acknowledge(EVE, RULE, HAND_BACK);
    expect(store.audited.at(-1)).toMatchObject({
      operator_id: 'eve',
      detail: { acknowledged: false, was_with: ADMIN.operator_id },
    });
    await pass(1_000);
    expect(told()).toEqual(['repeat']);
  });

  it('is refused to a second one, who learns who has it; the first has it once', async () => {
    const alerts = await startFiring();
    const { area, store } = alerts;
    const [first, second] = await Promise.allSettled([
      area.rules.acknowledge(ADMIN, RULE, TAKE),
      area.rules.acknowledge(EVE, RULE, TAKE),
    ]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({
      reason: { code: 'alert_acknowledged', detail: expect.stringContaining(ADMIN.operator_id) },
    });
    const count = store.audited.length;
    await area.rules.acknowledge(ADMIN, RULE, TAKE);
    expect(store.audited).toHaveLength(count);
    expect(inHandsOf(alerts)?.by).toBe(ADMIN.operator_id);
  });

  it('must fire, for this agent, in this tenant', async () => {
    const { area } = await startFiring();
    const refused = (code: string) => ({ code });
    await expect(area.rules.acknowledge(ADMIN, 'rule_none', TAKE)).rejects.toMatchObject(
      refused('alert_rule_not_found'),
    );
    for (const agent_id of ['other', null])
      await expect(area.rules.acknowledge(ADMIN, RULE, { ...TAKE, agent_id })).rejects.toMatchObject(
        refused('alert_not_firing'),
      );
    await expect(area.rules.acknowledge({ ...ADMIN, tenant_id: 'other' }, RULE, TAKE)).rejects.toMatchObject(
      refused('alert_not_firing'),
    );
  });

  it('stays in their hands over a restart', async () => {
    const before = await startFiring();
    await before.area.rules.acknowledge(ADMIN, RULE, TAKE);
    await before.area.stop();
    const after = await startAlerts({ store: before.store, time: before.time });
    expect(inHandsOf(after)?.by).toBe(ADMIN.operator_id);
    expect(before.told()).toEqual(['firing', 'acknowledged']);
    await after.time.pass(120_000);
    await settle();
    expect(after.sent).toEqual([]);
  });

  it('is kept in one write with its line in the audit, and so is that it is handed back: all else may be lost', async () => {
    for (const isHandedBack of [false, true]) {
      const { area, store, time } = await startFiring();
      if (isHandedBack) await area.rules.acknowledge(ADMIN, RULE, TAKE);
      await settle();
      let isDead = false;
      const dyingAfter =
        <Write, Result>(write: (given: Write) => Promise<Result>) =>
        (given: Write) => {
          if (isDead) return new Promise<Result>(() => {});
          isDead = true;
          return write.call(store, given);
        };
      store.commitDocuments = dyingAfter(store.commitDocuments);
      store.commitControl = dyingAfter(store.commitControl);
      store.saveDelivery = dyingAfter(store.saveDelivery);
      await area.rules.acknowledge(EVE, RULE, isHandedBack ? HAND_BACK : TAKE);
      await settle();
      const { docs, rows, incidents } = store;
      const next = Object.assign(new MemoryAlertStore(), { docs, rows, incidents });
      const after = await startAlerts({ store: next, time });
      expect(inHandsOf(after)).toEqual(isHandedBack ? null : { by: EVE.operator_id, at_ms: time.nowMs() });
    }
  });

  it('is in nobody’s where the audit takes no line', async () => {
    const alerts = await startFiring();
    alerts.store.isFull = true;
    await expect(alerts.area.rules.acknowledge(ADMIN, RULE, TAKE)).rejects.toThrow('store_full');
    expect(inHandsOf(alerts)).toBeNull();
  });
});
