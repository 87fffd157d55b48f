import { describe, expect, it } from 'vitest';
import {
  CIRCUIT_FAILURES_MAX,
  CIRCUIT_OPEN_MS,
  RETRY_AFTER_MS_MAX,
  RETRY_DELAYS_MS,
  type SendOutcome,
} from '#domain/alerts';
import { deferred } from '#kernel';
import { FakeTime, verifySignature } from '#testing';
import { ADMIN } from '../auth/access.fixture.js';
import { failed, fakeBox, incidentOf, keepIncident, settle, startAlerts, WEBHOOK } from './alerts.fixture.js';
import { PENDING_PER_CHANNEL_MAX, REFUSED_PER_CHANNEL_MAX } from './delivery-queue.js';
import { RUNNING_PER_TENANT_MAX } from './lane-rota.js';

type Alerts = Awaited<ReturnType<typeof startAlerts>>;

/** With a channel, and a kill-switch rule that uses it. */
async function withChannel(alerts?: Alerts) {
  const started = alerts ?? (await startAlerts());
  const { channel } = await started.area.channels.create(ADMIN, WEBHOOK);
  const [rule] = started.area.rules.list('default');
  const patch = { channel_ids: [channel.channel_id], cooldown_s: 0 };
  await started.area.rules.update(ADMIN, rule?.rule_id ?? '', patch);
  return { ...started, channelId: channel.channel_id };
}

/** As many channels as asked for, of this tenant's own, and its kill-switch rule tells all of them. */
async function addChannels({ area }: Pick<Alerts, 'area'>, count: number, tenantId = 'default') {
  const by = { ...ADMIN, tenant_id: tenantId };
  const channel_ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const url = `https://${tenantId}.example.org/${n}`;
    channel_ids.push((await area.channels.create(by, { ...WEBHOOK, url })).channel.channel_id);
  }
  await area.rules.update(by, 'default_kill_switch', { channel_ids, cooldown_s: 0 });
}

const fire = ({ area, time }: Pick<Alerts, 'area' | 'time'>, agentId?: string) =>
  area.monitor.note(incidentOf(time, agentId));

/** One delivery was tried, once. */
async function answeredWith(outcome: SendOutcome) {
  const alerts = await withChannel();
  alerts.script.answer = async () => outcome;
  fire(alerts);
  await settle();
  const [id = ''] = alerts.store.rows.keys();
  return { ...alerts, id };
}

describe('a delivery', () => {
  it('is on disk before its first attempt, signed, and published as its state changes', async () => {
    const alerts = await withChannel();
    fire(alerts);
    await settle();
    expect(alerts.store.saved).toEqual(['pending', 'delivered']);
    expect(alerts.published.map(({ payload }) => payload.state)).toEqual(['pending', 'delivered']);
    const [one] = alerts.sent;
    const header = one?.headers['x-observatory-signature'];
    const signed = {
      secret: 'canary-signing-secret',
      header,
      body: one?.body ?? '',
      nowMs: alerts.time.nowMs(),
    };
    expect(verifySignature(signed)).toBe(true);
    expect(JSON.parse(one?.body ?? '')).toMatchObject({
      type: 'kill_switch',
      phase: 'firing',
      agent_id: 'crawler',
    });
    const [row] = alerts.store.rows.values();
    expect(one?.headers['idempotency-key']).toBe(row?.delivery_id);
  });

  it('is tried again with the same id after a failure, until it is taken', async () => {
    const alerts = await answeredWith(failed());
    expect([...alerts.store.rows.values()]).toMatchObject([
      {
        state: 'pending',
        attempt_count: 1,
        last_error: 'it answers 500',
        next_attempt_at_ms: alerts.time.nowMs() + 1_000,
      },
    ]);
    await alerts.time.pass(999);
    expect(alerts.sent).toHaveLength(1);
    alerts.script.answer = async () => ({ ok: true });
    await alerts.time.pass(1);
    await settle();
    expect([...alerts.store.rows.values()]).toMatchObject([
      { state: 'delivered', attempt_count: 2, last_error: null, next_attempt_at_ms: null },
    ]);
    expect(new Set(alerts.sent.map(({ headers }) => headers['x-observatory-delivery'])).size).toBe(1);
  });

  it('is dead after its last attempt, and comes back with Retry', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => failed();
    fire(alerts);
    for (let n = 0; n < 24 && alerts.states()[0] === 'pending'; n += 1) {
      await settle();
      await alerts.time.pass(3_600_000);
    }
    const [dead] = alerts.store.rows.values();
    expect(dead).toMatchObject({
      state: 'dead',
      attempt_count: RETRY_DELAYS_MS.length + 1,
      next_attempt_at_ms: null,
    });
    expect(alerts.sent).toHaveLength(RETRY_DELAYS_MS.length + 1);

    alerts.script.answer = async () => ({ ok: true });
    const answer = await alerts.area.deadLetters.retry(ADMIN, dead?.delivery_id ?? '');
    expect(answer).toMatchObject({
      state: 'pending',
      attempt_count: 0,
      last_error: null,
      finished_at_ms: null,
    });
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
    expect(alerts.store.audited.at(-1)).toMatchObject({
      action: 'alert_delivery.retry',
      operator_id: 'ada',
      detail: { channel_id: alerts.channelId, name: expect.stringMatching(/./) },
    });
  });

  it('is dead at once where trying again would not help', async () => {
    const alerts = await answeredWith(failed('it answers 404', false));
    expect([...alerts.store.rows.values()]).toMatchObject([{ state: 'dead', last_error: 'it answers 404' }]);
  });

  it('of another tenant cannot be put back', async () => {
    const { id, ...alerts } = await answeredWith(failed('it answers 404', false));
    const stranger = { ...ADMIN, tenant_id: 'other' };
    await expect(alerts.area.deadLetters.retry(stranger, id)).rejects.toMatchObject({
      code: 'delivery_not_found',
    });
  });

  it('is not put back without its line in the audit: where the store takes none, nothing is sent', async () => {
    const { id, ...alerts } = await answeredWith(failed('it answers 404', false));
    alerts.store.isFull = true;
    await expect(alerts.area.deadLetters.retry(ADMIN, id)).rejects.toThrow('store_full');
    alerts.store.isFull = false;
    await alerts.time.pass(5_000);
    await settle();
    expect(alerts.states()).toEqual(['dead']);
    expect(alerts.sent).toHaveLength(1);
  });

  it('put back by two operators at once is sent once', async () => {
    const { id, ...alerts } = await answeredWith(failed('it answers 404', false));
    alerts.script.answer = async () => ({ ok: true });
    await Promise.all([alerts.area.deadLetters.retry(ADMIN, id), alerts.area.deadLetters.retry(ADMIN, id)]);
    await settle();
    expect(alerts.sent).toHaveLength(2);
  });

  it('that waits is brought forward with the attempts it had, and left alone while one is under way', async () => {
    const { id, ...alerts } = await answeredWith(failed());
    alerts.script.answer = () => new Promise(() => {});
    for (const _ of ['that waits', 'under way']) {
      const answer = await alerts.area.deadLetters.retry(ADMIN, id);
      expect(answer).toMatchObject({ state: 'pending', attempt_count: 1 });
      await settle();
      expect(alerts.sent).toHaveLength(2);
      expect(alerts.store.saved).toEqual(['pending', 'pending', 'pending']);
    }
  });

  it('that arrives while its Retry is written to the audit is not sent again', async () => {
    const { id, ...alerts } = await answeredWith(failed());
    alerts.script.answer = async () => ({ ok: true });
    const commit = alerts.store.commitControl.bind(alerts.store);
    alerts.store.commitControl = async (write) => {
      await alerts.time.pass(1_000);
      await settle();
      return commit(write);
    };
    expect(await alerts.area.deadLetters.retry(ADMIN, id)).toMatchObject({ state: 'delivered' });
    await settle();
    expect(alerts.sent).toHaveLength(2);
  });

  it('left pending by a process that died is carried on by the next', async () => {
    const first = await withChannel();
    first.script.answer = () => new Promise(() => {});
    keepIncident(first.store, incidentOf(first.time));
    fire(first);
    await settle();
    expect(first.states()).toEqual(['pending']);

    const next = await startAlerts({ store: first.store, time: first.time });
    await settle();
    expect(next.sent).toHaveLength(1);
    expect(next.states()).toEqual(['delivered']);
  });

  it('put off while the clock was ahead is sent by the next process, whose clock is right', async () => {
    const ahead = new FakeTime();
    await ahead.pass(365 * 86_400_000);
    const first = await withChannel(await startAlerts({ time: ahead }));
    first.script.answer = async () => failed();
    fire(first);
    keepIncident(first.store, incidentOf(ahead));
    await settle();
    await first.area.stop();
    expect(first.sent).toHaveLength(1);

    const next = await startAlerts({ store: first.store });
    await next.time.pass(RETRY_AFTER_MS_MAX);
    await settle();
    expect(next.states()).toEqual(['delivered']);
  });

  it('is kept and sent once the store takes it, where it was full', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    fire(alerts);
    await settle();
    expect(alerts.sent).toEqual([]);
    alerts.store.isFull = false;
    await alerts.time.pass(5_000);
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
  });

  it('is not sent twice where only its outcome could not be written', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => {
      alerts.store.isFull = true;
      return { ok: true };
    };
    fire(alerts);
    await settle();
    expect(alerts.states()).toEqual(['pending']);
    alerts.store.isFull = false;
    await alerts.time.pass(5_000);
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
    expect(alerts.sent).toHaveLength(1);
  });

  it('that a full disk refuses again and again is in the log once a minute', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    for (const agent of ['a', 'b', 'c']) fire(alerts, agent);
    for (let n = 0; n < 24; n += 1) {
      await settle();
      await alerts.time.pass(5_000);
    }
    const refused = alerts.lines.filter(
      ({ event, what }) => event === 'alert_store_failed' && what === 'delivery',
    );
    expect(refused.length).toBeLessThanOrEqual(3);
    expect(refused[1]).toMatchObject({ untold_count: expect.any(Number) });
    expect(Number(refused[1]?.untold_count)).toBeGreaterThan(20);
  });

  it('that has arrived is not sent again by Retry before its outcome is written', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => {
      alerts.store.isFull = true;
      return { ok: true };
    };
    fire(alerts);
    await settle();
    expect(alerts.states()).toEqual(['pending']);
    const [id = ''] = alerts.store.rows.keys();
    alerts.store.isFull = false;
    expect(await alerts.area.deadLetters.retry(ADMIN, id)).toMatchObject({
      state: 'delivered',
      attempt_count: 1,
    });
    await alerts.time.pass(5_000);
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
    expect(alerts.sent).toHaveLength(1);
  });

  it('that arrives while Retry looks for it is not sent again', async () => {
    const alerts = await withChannel();
    let arrive = (_: SendOutcome) => {};
    alerts.script.answer = () => new Promise((resolve) => (arrive = resolve));
    fire(alerts);
    await settle();
    const [id = ''] = alerts.store.rows.keys();
    const read = alerts.store.delivery.bind(alerts.store);
    alerts.store.delivery = async (...asked) => {
      const found = await read(...asked);
      arrive({ ok: true });
      await settle();
      return found;
    };
    expect(await alerts.area.deadLetters.retry(ADMIN, id)).toMatchObject({ state: 'delivered' });
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
    expect(alerts.sent).toHaveLength(1);
  });

  it('put back by one operator and delivered while another who puts it back still reads it is sent once', async () => {
    const { id, ...alerts } = await answeredWith(failed('it answers 404', false));
    alerts.script.answer = async () => ({ ok: true });
    const late = deferred();
    const read = alerts.store.delivery.bind(alerts.store);
    let readCount = 0;
    alerts.store.delivery = async (...asked) => {
      const found = await read(...asked);
      readCount += 1;
      if (readCount === 2) await late.promise;
      return found;
    };
    const slow = alerts.area.deadLetters.retry(ADMIN, id);
    await settle();
    await alerts.area.deadLetters.retry(ADMIN, id);
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
    late.resolve();
    expect(await slow).toMatchObject({ state: 'delivered' });
    await settle();
    expect(alerts.states()).toEqual(['delivered']);
    expect(alerts.sent).toHaveLength(2);
  });

  it('is on disk at once however many attempts are under way', async () => {
    const alerts = await startAlerts();
    await addChannels(alerts, 16);
    alerts.script.answer = () => new Promise(() => {});
    for (let n = 0; n < 4; n += 1) fire(alerts, `agent-${n}`);
    await settle();
    expect(alerts.states()).toEqual(new Array(64).fill('pending'));
  });

  it('that the store refused is written by the shutdown', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    fire(alerts);
    await settle();
    alerts.store.isFull = false;
    await alerts.area.stop();
    expect(alerts.states()).toEqual(['pending']);
  });

  it('that the store goes on refusing for a moment is written by the shutdown, too', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    fire(alerts);
    await settle();
    const stopped = alerts.area.stop();
    await settle();
    alerts.store.isFull = false;
    await alerts.time.pass(1_000);
    await stopped;
    expect(alerts.states()).toEqual(['pending']);
  });

  it('that has no place is lost, and counted, once as many of them wait for a store that refuses', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    const keptCount = PENDING_PER_CHANNEL_MAX + REFUSED_PER_CHANNEL_MAX;
    for (let n = 0; n < keptCount; n += 1) fire(alerts, `agent-${n}`);
    await settle();
    for (let n = 0; n < 7; n += 1) fire(alerts, `late-${n}`);
    const bounds = await alerts.metrics.getSingleMetric('observatory_alert_bounds_reached_total')?.get();
    expect(bounds?.values).toContainEqual({ labels: { bound: 'channel_queue_lost' }, value: 7 });
    alerts.store.isFull = false;
    await alerts.area.stop();
    const states = alerts.states();
    expect(states.filter((state) => state === 'dead')).toHaveLength(REFUSED_PER_CHANNEL_MAX);
    expect(states).toHaveLength(keptCount);
  });

  it('is kept as well where the store has refused another, as long as there are places', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    for (const agent of ['first', 'second']) {
      fire(alerts, agent);
      await settle();
    }
    alerts.store.isFull = false;
    await alerts.time.pass(5_000);
    await settle();
    expect(alerts.sent).toHaveLength(2);
  });

  it('beyond the places is dead, counted, and never lost while the store takes it', async () => {
    const alerts = await withChannel();
    const count = PENDING_PER_CHANNEL_MAX + REFUSED_PER_CHANNEL_MAX + 1;
    for (let n = 0; n < count; n += 1) fire(alerts, `agent-${n}`);
    await alerts.area.stop();
    const bounds = await alerts.metrics.getSingleMetric('observatory_alert_bounds_reached_total')?.get();
    const refusedCount = REFUSED_PER_CHANNEL_MAX + 1;
    expect(bounds?.values).toContainEqual({ labels: { bound: 'channel_queue' }, value: refusedCount });
    expect(alerts.states().filter((state) => state === 'dead')).toHaveLength(refusedCount);
    expect(alerts.states()).toHaveLength(count);
  });

  it('that a crash lost is made again: nobody counts as told before it is on disk', async () => {
    const alerts = await withChannel();
    alerts.store.isFull = true;
    fire(alerts);
    await alerts.time.pass(1_000);
    await settle();
    alerts.store.isFull = false;
    keepIncident(alerts.store, { ...incidentOf(alerts.time), at_ms: alerts.time.nowMs() - 1_000 });
    const next = await startAlerts({ store: alerts.store, time: alerts.time });
    await settle();
    expect(next.states()).toEqual(['delivered']);
    expect(next.sent).toHaveLength(1);
  });

  it('of a channel that is gone, or sealed with a lost key, is dead and says so', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => failed();
    fire(alerts);
    keepIncident(alerts.store, incidentOf(alerts.time));
    await settle();
    const next = await startAlerts({ store: alerts.store, time: alerts.time, box: fakeBox('another') });
    await next.time.pass(1_000);
    await settle();
    expect([...alerts.store.rows.values()][0]?.last_error).toContain('sealed with another key');

    fire(alerts, 'second');
    await settle();
    await alerts.area.channels.remove(ADMIN, alerts.channelId);
    await settle();
    expect([...alerts.store.rows.values()][1]).toMatchObject({
      state: 'dead',
      last_error: 'the channel was removed',
    });
    const id = [...alerts.store.rows.keys()][1] ?? '';
    await expect(alerts.area.deadLetters.retry(ADMIN, id)).rejects.toMatchObject({
      code: 'alert_channel_not_found',
    });
    expect(alerts.states()[1]).toBe('dead');
  });
});

describe('a channel that fails', () => {
  const fillUp = async (alerts: Alerts) => {
    alerts.script.answer = async () => failed();
    for (let n = 0; n < CIRCUIT_FAILURES_MAX; n += 1) {
      fire(alerts, `agent-${n}`);
      await settle();
    }
  };

  it('rests after five failures in a row, then one delivery tries, and success lets all go', async () => {
    const alerts = await withChannel();
    await fillUp(alerts);
    const retryAtMs = alerts.time.nowMs() + CIRCUIT_OPEN_MS;
    expect(alerts.area.channels.list('default')[0]?.circuit).toEqual({
      state: 'open',
      retry_at_ms: retryAtMs,
      reason: 'it answers 500',
    });
    await alerts.time.pass(CIRCUIT_OPEN_MS - 1);
    await settle();
    expect(alerts.sent).toHaveLength(CIRCUIT_FAILURES_MAX);

    await alerts.time.pass(1);
    await settle();
    expect(alerts.sent).toHaveLength(CIRCUIT_FAILURES_MAX + 1);
    expect(alerts.area.channels.list('default')[0]?.circuit.retry_at_ms).toBe(
      alerts.time.nowMs() + 2 * CIRCUIT_OPEN_MS,
    );

    alerts.script.answer = async () => ({ ok: true });
    await alerts.time.pass(2 * CIRCUIT_OPEN_MS);
    await settle();
    expect(alerts.states()).toEqual(new Array(CIRCUIT_FAILURES_MAX).fill('delivered'));
    expect(alerts.area.channels.list('default')[0]?.circuit.state).toBe('closed');
  });

  it('is tried at once where an operator puts a delivery back, though it rests', async () => {
    const alerts = await withChannel();
    await fillUp(alerts);
    alerts.script.answer = async () => ({ ok: true });
    const [id = ''] = alerts.store.rows.keys();
    await alerts.area.deadLetters.retry(ADMIN, id);
    await settle();
    expect(alerts.store.rows.get(id)?.state).toBe('delivered');
    expect(alerts.area.channels.list('default')[0]?.circuit.state).toBe('closed');
  });

  it('that takes one message a second and says so is sent all of a burst at about that pace', async () => {
    const alerts = await withChannel();
    let takesFromMs = 0;
    alerts.script.answer = async () => {
      const nowMs = alerts.time.nowMs();
      if (nowMs < takesFromMs)
        return { ...failed('it answers 429'), retryAfterMs: takesFromMs - nowMs } as SendOutcome;
      takesFromMs = nowMs + 1_000;
      return { ok: true };
    };
    for (let n = 0; n < 60; n += 1) fire(alerts, `agent-${n}`);
    await settle();
    for (let second = 0; second < 90; second += 1) {
      await alerts.time.pass(1_000);
      await settle();
    }
    expect(alerts.states().filter((state) => state === 'delivered')).toHaveLength(60);
    expect(alerts.area.channels.list('default')[0]?.circuit.state).toBe('closed');
  });

  it('is not the one whose receiver asked for a rest: that one rests, and tries again when it is over', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () =>
      ({ ...failed('it answers 429'), retryAfterMs: 120_000 }) as SendOutcome;
    fire(alerts, 'crawler');
    await settle();
    const circuit = () => alerts.area.channels.list('default')[0]?.circuit;
    expect(circuit()).toEqual({
      state: 'resting',
      retry_at_ms: alerts.time.nowMs() + 120_000,
      reason: 'it answers 429',
    });
    alerts.script.answer = async () => ({ ok: true });
    await alerts.time.pass(120_000);
    await settle();
    expect(circuit()).toEqual({ state: 'closed', retry_at_ms: null, reason: null });
  });

  it('that is refused for good is said to be, sends the next all the same, and is well with one that arrives', async () => {
    const alerts = await withChannel();
    const circuit = () => alerts.area.channels.list('default')[0]?.circuit;
    alerts.script.answer = async () => failed('it answers 404', false);
    fire(alerts, 'crawler');
    await settle();
    expect(alerts.states()).toEqual(['dead']);
    expect(circuit()).toEqual({ state: 'refusing', retry_at_ms: null, reason: 'it answers 404' });
    alerts.script.answer = async () => ({ ok: true });
    fire(alerts, 'writer');
    await settle();
    expect(alerts.states()).toEqual(['dead', 'delivered']);
    expect(circuit()).toEqual({ state: 'closed', retry_at_ms: null, reason: null });
  });

  it('does not hold up another', async () => {
    const alerts = await withChannel();
    await fillUp(alerts);
    const { channel } = await alerts.area.channels.create(ADMIN, {
      ...WEBHOOK,
      url: 'https://other.example.org/',
    });
    alerts.script.answer = async () => ({ ok: true });
    const [rule] = alerts.area.rules.list('default');
    await alerts.area.rules.update(ADMIN, rule?.rule_id ?? '', { channel_ids: [channel.channel_id] });
    fire(alerts, 'late');
    await settle();
    expect(alerts.sent.at(-1)?.url).toBe('https://other.example.org/');
    expect(alerts.states().at(-1)).toBe('delivered');
  });

  it('is tried at once after a test that went well', async () => {
    const alerts = await withChannel();
    await fillUp(alerts);
    alerts.script.answer = async () => ({ ok: true });
    expect(await alerts.area.channels.test(ADMIN, alerts.channelId)).toMatchObject({ status: 'ok' });
    await settle();
    expect(alerts.states()).toEqual(new Array(CIRCUIT_FAILURES_MAX).fill('delivered'));
  });

  it.each([
    ['not worth another try', failed('it answers 404', false)],
    ['no answer', failed('no answer')],
  ])(
    'was changed while an attempt was under way: its outcome there, %s, is none, and it is tried anew at once',
    async (_, outcome) => {
      const alerts = await withChannel();
      const answered = deferred<SendOutcome>();
      alerts.script.answer = () => answered.promise;
      fire(alerts);
      await settle();
      alerts.script.answer = async () => ({ ok: true });
      await alerts.area.channels.update(ADMIN, alerts.channelId, { url: 'https://new.example.org/' });
      answered.resolve(outcome);
      await settle();
      expect(alerts.sent.map(({ url }) => url)).toEqual([WEBHOOK.url, 'https://new.example.org/']);
      expect(alerts.states()).toEqual(['delivered']);
    },
  );

  it('was removed while an attempt was under way: it is dead as soon as that fails', async () => {
    const alerts = await withChannel();
    const answered = deferred<SendOutcome>();
    alerts.script.answer = () => answered.promise;
    fire(alerts);
    await settle();
    await alerts.area.channels.remove(ADMIN, alerts.channelId);
    answered.resolve(failed());
    await settle();
    expect(alerts.sent).toHaveLength(1);
    expect([...alerts.store.rows.values()]).toMatchObject([
      { state: 'dead', last_error: 'the channel was removed' },
    ]);
  });

  it('has at most two deliveries under way', async () => {
    const alerts = await withChannel();
    alerts.script.answer = () => new Promise(() => {});
    for (let n = 0; n < 5; n += 1) fire(alerts, `agent-${n}`);
    await settle();
    expect(alerts.sent).toHaveLength(2);
  });
});

describe('what is told of one alert', () => {
  const isOver = ({ area, time }: Alerts) => {
    const subject = { tenant_id: 'default', agent_id: 'crawler', session_id: null, at_ms: time.nowMs() };
    area.monitor.note({ kind: 'reactivated', ...subject });
  };
  const phases = ({ sent }: Pick<Alerts, 'sent'>) => sent.map(({ body }) => JSON.parse(body).phase);

  it('arrives in its order after a restart, too, where the store had refused its beginning', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => failed();
    alerts.store.isFull = true;
    fire(alerts);
    await settle();
    alerts.store.isFull = false;
    isOver(alerts);
    await alerts.time.pass(6_000);
    await settle();
    expect(alerts.states()).toEqual(['pending', 'pending']);

    await alerts.area.stop();

    const next = await startAlerts({ store: alerts.store, time: alerts.time });
    await next.time.pass(60_000);
    await settle();
    expect(phases(next)).toEqual(['firing', 'recovered']);
  });

  it('arrives in its order: that it is over brings forward that it began', async () => {
    const alerts = await answeredWith(failed());
    alerts.script.answer = async () => ({ ok: true });
    isOver(alerts);
    await settle();
    expect(phases(alerts)).toEqual(['firing', 'firing', 'recovered']);
    expect(alerts.states()).toEqual(['delivered', 'delivered']);
  });

  it('waits for its beginning while that finds no way, and for that of no other agent', async () => {
    const alerts = await answeredWith(failed());
    isOver(alerts);
    await settle();
    expect(phases(alerts)).toEqual(['firing', 'firing']);
    alerts.script.answer = async () => ({ ok: true });
    fire(alerts, 'another');
    await settle();
    expect(alerts.states()).toEqual(['pending', 'pending', 'delivered']);
    await alerts.time.pass(5_000);
    await settle();
    expect(phases(alerts)).toEqual(['firing', 'firing', 'firing', 'firing', 'recovered']);
  });

  it('goes on where its beginning is refused for good', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => failed('it answers 404', false);
    fire(alerts);
    isOver(alerts);
    await settle();
    expect(phases(alerts)).toEqual(['firing', 'recovered']);
    expect(alerts.states()).toEqual(['dead', 'dead']);
  });

  it('arrives in its order also where an operator puts its end back before its beginning', async () => {
    const alerts = await withChannel();
    alerts.script.answer = async () => failed('it answers 404', false);
    fire(alerts);
    isOver(alerts);
    await settle();
    const ids = [...alerts.store.rows.keys()];
    alerts.sent.length = 0;
    let answer = (_: SendOutcome) => {};
    alerts.script.answer = () => new Promise((resolve) => (answer = resolve));
    fire(alerts, 'one');
    fire(alerts, 'two');
    await settle();
    alerts.script.answer = async () => ({ ok: true });
    for (const id of ids.toReversed()) await alerts.area.deadLetters.retry(ADMIN, id);
    answer({ ok: true });
    await settle();
    const told = alerts.sent
      .map(({ body }) => JSON.parse(body))
      .filter(({ agent_id }) => agent_id === 'crawler');
    expect(told.map(({ phase }) => phase)).toEqual(['firing', 'recovered']);
  });
});

describe('many slow channels', () => {
  const hostsOf = ({ sent }: Alerts) => sent.map(({ url }) => new URL(url).host.split('.')[0]);

  it('of one tenant leave room for those of another', async () => {
    const alerts = await startAlerts();
    await addChannels(alerts, 16, 'slow');
    await addChannels(alerts, 1, 'other');
    alerts.script.answer = () => new Promise(() => {});
    for (let n = 0; n < 3; n += 1)
      alerts.area.monitor.note({ ...incidentOf(alerts.time, `a-${n}`), tenant_id: 'slow' });
    await settle();
    alerts.area.monitor.note({ ...incidentOf(alerts.time), tenant_id: 'other' });
    await settle();
    expect(hostsOf(alerts).at(-1)).toBe('other');
    expect(alerts.sent).toHaveLength(RUNNING_PER_TENANT_MAX + 1);
  });

  it('get a free place in turn, and so does whoever comes later', async () => {
    const alerts = await startAlerts();
    const ends: (() => void)[] = [];
    alerts.script.answer = () => new Promise((resolve) => ends.push(() => resolve({ ok: true })));
    for (const tenantId of ['slow', 'busy', 'late']) {
      await addChannels(alerts, 16, tenantId);
      for (let n = 0; n < 3; n += 1)
        alerts.area.monitor.note({ ...incidentOf(alerts.time, `a-${n}`), tenant_id: tenantId });
      await settle();
    }
    expect(hostsOf(alerts)).not.toContain('late');
    for (let n = 0; n < 3; n += 1) {
      ends[n]?.();
      await settle();
    }
    expect(hostsOf(alerts).slice(-3).sort()).toEqual(['busy', 'late', 'slow']);
  });
});

describe('a shutdown', () => {
  it('waits for attempts under way, starts none, and leaves the rest in the store', async () => {
    const alerts = await withChannel();
    const answers: ((outcome: { ok: true }) => void)[] = [];
    alerts.script.answer = () => new Promise((resolve) => answers.push(resolve));
    for (let n = 0; n < 3; n += 1) fire(alerts, `agent-${n}`);
    await settle();
    const stopped = alerts.area.stop();
    await settle();
    for (const answer of answers) answer({ ok: true });
    await stopped;
    expect(alerts.sent).toHaveLength(2);
    expect(alerts.states().sort()).toEqual(['delivered', 'delivered', 'pending']);
  });

  it('writes that one has arrived, though the store refused that for a moment: the next process does not send it again', async () => {
    const alerts = await withChannel();
    let arrive = (_outcome: { ok: true }): void => {};
    alerts.script.answer = () => new Promise((resolve) => (arrive = resolve));
    fire(alerts);
    await settle();
    const stopped = alerts.area.stop();
    alerts.store.isFull = true;
    arrive({ ok: true });
    await settle();
    alerts.store.isFull = false;
    await alerts.time.pass(1_000);
    await stopped;
    expect(alerts.states()).toEqual(['delivered']);
  });

  it('does not wait for an attempt that hangs before it writes what the store had refused', async () => {
    const alerts = await withChannel();
    alerts.script.answer = () => new Promise(() => {});
    fire(alerts);
    await settle();
    alerts.store.isFull = true;
    fire(alerts, 'another');
    await settle();
    alerts.store.isFull = false;
    const stopped = alerts.area.stop();
    await settle();
    expect(alerts.states()).toEqual(['pending', 'pending']);
    await alerts.time.pass(3_000);
    await stopped;
  });

  it('does not wait for ever', async () => {
    const alerts = await withChannel();
    alerts.script.answer = () => new Promise(() => {});
    fire(alerts);
    await settle();
    const stopped = alerts.area.stop();
    await settle();
    await alerts.time.pass(3_000);
    await expect(stopped).resolves.toBeUndefined();
  });
});
