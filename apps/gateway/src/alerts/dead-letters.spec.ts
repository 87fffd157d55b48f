import { expect, it } from 'vitest';
import { type AlertDelivery, LIMITS, ObservatoryError } from '#contracts';
import { ADMIN } from '../auth/access.fixture.js';
import { failed, incidentOf, settle, startAlerts, WEBHOOK } from './alerts.fixture.js';
import { DeadLetters } from './dead-letters.js';
import { PENDING_PER_CHANNEL_MAX } from './delivery-queue.js';

type Alerts = Awaited<ReturnType<typeof startAlerts>>;

/** So many agents were stopped, and each channel of the tenant refused to hear of it. */
async function withDead(count: number, names = ['On call']) {
  const alerts = await startAlerts();
  const channelIds: string[] = [];
  for (const name of names)
    channelIds.push((await alerts.area.channels.create(ADMIN, { ...WEBHOOK, name })).channel.channel_id);
  await alerts.area.rules.update(ADMIN, 'default_kill_switch', { channel_ids: channelIds, cooldown_s: 0 });
  alerts.script.answer = async () => failed('it answers 404', false);
  for (let n = 0; n < count; n += 1) alerts.area.monitor.note(incidentOf(alerts.time, `agent-${n}`));
  await settle();
  alerts.sent.length = 0;
  alerts.script.answer = async () => ({ ok: true });
  return { ...alerts, channelIds };
}

const agentsOf = ({ sent }: Pick<Alerts, 'sent'>): string[] =>
  sent.map(({ body }) => JSON.parse(body).agent_id);

it('are put back together, the oldest first, and audited once', async () => {
  const alerts = await withDead(3);
  const audited = alerts.store.audited.length;
  expect(await alerts.area.deadLetters.retryAll(ADMIN, null)).toEqual({ retried_count: 3, has_more: false });
  await settle();
  expect(agentsOf(alerts)).toEqual(['agent-0', 'agent-1', 'agent-2']);
  expect(alerts.states()).toEqual(['delivered', 'delivered', 'delivered']);
  expect(alerts.store.audited.slice(audited)).toMatchObject([
    { action: 'alert_delivery.retry_all', detail: { channel_id: null, count: 3 } },
  ]);
  expect(await alerts.area.deadLetters.retryAll(ADMIN, null)).toEqual({ retried_count: 0, has_more: false });
  expect(alerts.store.audited).toHaveLength(audited + 1);
});

it('of other tenants, and of channels that were removed, stay', async () => {
  const alerts = await withDead(2, ['On call', 'Old']);
  const [, old = ''] = alerts.channelIds;
  const stranger = { ...ADMIN, tenant_id: 'other' };
  expect(await alerts.area.deadLetters.retryAll(stranger, null)).toMatchObject({ retried_count: 0 });
  await expect(alerts.area.deadLetters.retryAll(stranger, old)).rejects.toMatchObject({
    code: 'alert_channel_not_found',
  });
  await alerts.area.channels.remove(ADMIN, old);
  expect(await alerts.area.deadLetters.retryAll(ADMIN, null)).toEqual({ retried_count: 2, has_more: false });
  await settle();
  expect(alerts.states().toSorted()).toEqual(['dead', 'dead', 'delivered', 'delivered']);
});

it('of one channel leave those of the others', async () => {
  const alerts = await withDead(2, ['On call', 'Chat']);
  const [, chat = ''] = alerts.channelIds;
  expect(await alerts.area.deadLetters.retryAll(ADMIN, chat)).toEqual({ retried_count: 2, has_more: false });
  await settle();
  expect(alerts.states().toSorted()).toEqual(['dead', 'dead', 'delivered', 'delivered']);
  expect(alerts.store.audited.at(-1)).toMatchObject({ detail: { channel_id: chat, name: 'Chat', count: 2 } });
});

/** So many of one channel; `fails` says which are not put back. */
function stored(count: number, fails: (deliveryId: string) => Error | null) {
  const oldestFirst = Array.from({ length: count }, (_, n) => ({ delivery_id: `${n + 1}`, channel_id: 'c' }));
  const retried: string[] = [];
  const read = { count: 0 };
  const letters = new DeadLetters({
    store: {
      deliveries: async ({ limit, cursor, order }) => {
        const end = Number(cursor ?? 0) + limit;
        const all = order === 'asc' ? oldestFirst : oldestFirst.toReversed();
        const items = all.slice(end - limit, end) as AlertDelivery[];
        read.count += items.length;
        return { items, next_cursor: end < count ? `${end}` : null };
      },
    },
    documents: { channel: () => ({ name: 'On call' }) as never },
    queue: {
      roomOf: () => count,
      retry: async (_tenantId, deliveryId) => {
        const error = fails(deliveryId);
        if (error !== null) throw error;
        retried.push(deliveryId);
        return {} as AlertDelivery;
      },
    },
    audit: { record: async () => {} },
  });
  return { letters, retried, read };
}

it('are put back a thousand at a time, the oldest of all pages first', async () => {
  expect(LIMITS.pageRowsMax).toBeLessThan(1_000);
  const { letters, retried } = stored(1_001, () => null);
  expect(await letters.retryAll(ADMIN, null)).toEqual({ retried_count: 1_000, has_more: true });
  expect(retried).toEqual(Array.from({ length: 1_000 }, (_, n) => `${n + 1}`));
});

it.each([
  ['of every channel', null],
  ['of one', 'c'],
])('%s are looked through as far as they are put back, however many there are', async (_, channelId) => {
  const { letters, read } = stored(50_000, () => null);
  expect(await letters.retryAll(ADMIN, channelId)).toEqual({ retried_count: 1_000, has_more: true });
  expect(read.count).toBeLessThanOrEqual(1_000 + LIMITS.pageRowsMax);
});

it('that are gone meanwhile keep no other back, and what the store refuses is told', async () => {
  const gone = new ObservatoryError('delivery_not_found');
  const one = stored(3, (id) => (id === '2' ? gone : null));
  expect(await one.letters.retryAll(ADMIN, null)).toEqual({ retried_count: 2, has_more: false });
  expect(one.retried).toEqual(['1', '3']);
  const busy = stored(3, () => new ObservatoryError('store_busy'));
  await expect(busy.letters.retryAll(ADMIN, null)).rejects.toMatchObject({ code: 'store_busy' });
});

it('are put back as far as their channel has room', async () => {
  const alerts = await withDead(3);
  alerts.script.answer = () => new Promise(() => {});
  for (let n = 0; n < PENDING_PER_CHANNEL_MAX - 2; n += 1)
    alerts.area.monitor.note(incidentOf(alerts.time, `waiting-${n}`));
  await settle();
  expect(await alerts.area.deadLetters.retryAll(ADMIN, null)).toEqual({ retried_count: 2, has_more: true });
  expect(await alerts.area.deadLetters.retryAll(ADMIN, null)).toEqual({ retried_count: 0, has_more: true });
});

it('stay as they are where the store refuses the audit', async () => {
  const alerts = await withDead(1);
  alerts.store.isFull = true;
  await expect(alerts.area.deadLetters.retryAll(ADMIN, null)).rejects.toThrow('store_full');
  await settle();
  expect(alerts.sent).toEqual([]);
  expect(alerts.states()).toEqual(['dead']);
});
