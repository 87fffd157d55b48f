/** Somebody sets the wall clock while alerts fire: nobody is flooded, and nobody waits for the time that was. */
import { describe, expect, it } from 'vitest';
import { alertRuleBodySchema } from '#contracts';
import type { SendOutcome } from '#domain/alerts';
import type { FakeTime } from '#testing';
import { ADMIN } from '../auth/access.fixture.js';
import { failed, incidentOf, keepIncident, settle, startAlerts, WEBHOOK } from './alerts.fixture.js';

const HOUR_MS = 3_600_000;
const REPEAT_S = 600;

async function withRule() {
  const alerts = await startAlerts();
  const { channel } = await alerts.area.channels.create(ADMIN, WEBHOOK);
  await alerts.area.rules.update(ADMIN, 'default_kill_switch', {
    channel_ids: [channel.channel_id],
    cooldown_s: 300,
    repeat_s: REPEAT_S,
  });
  const sentPhases = () => alerts.sent.map(({ body }) => JSON.parse(body).phase);
  return { ...alerts, sentPhases };
}

it.each([
  ['an hour back', -HOUR_MS, ['firing', 'repeat']],
  // How long it has lasted cannot be told from a clock that was set.
  ['an hour ahead', HOUR_MS, ['firing', 'repeat', 'repeat']],
])('an alert is repeated after its time though the clock was set %s', async (_, byMs, phases) => {
  const { area, time, sentPhases } = await withRule();
  area.monitor.note(incidentOf(time));
  await settle();
  time.setWallClock(byMs);
  await time.pass((REPEAT_S + 2) * 1_000);
  await settle();
  expect(sentPhases()).toEqual(phases);
  await area.stop();
});

it.each([
  ['began in a time that is to come', 0, -HOUR_MS, 2_000],
  ['was told last in a time that is to come', 250, -60_000, 0],
])(
  'an alert is not repeated by a restart because it %s since the clock was set back',
  async (_, lastedS, byMs, afterMs) => {
    const { area, store, time } = await withRule();

    await area.rules.update(ADMIN, 'default_kill_switch', { cooldown_s: 0, repeat_s: 120 });
    const event = incidentOf(time);
    keepIncident(store, event);
    area.monitor.note(event);
    await settle();
    await time.pass(lastedS * 1_000);
    time.setWallClock(byMs);
    await time.pass(afterMs);
    await area.stop();
    const next = await startAlerts({ store, time });
    await time.pass(2_000);
    expect(next.sent).toEqual([]);
    await next.area.stop();
  },
);

it('a notice whose first attempt failed is sent after its wait though the clock was set back meanwhile', async () => {
  const { area, time, script, sent, states } = await withRule();
  script.answer = async () => failed();
  area.monitor.note(incidentOf(time));
  await settle();
  expect(sent).toHaveLength(1);
  script.answer = async () => ({ ok: true });
  time.setWallClock(-HOUR_MS);
  await time.pass(60_000);
  await settle();
  expect(sent).toHaveLength(2);
  expect(states()).toEqual(['delivered']);
  await area.stop();
});

it.each([
  ['rests after failures in a row', null, 5],
  ['rests because its receiver asked for it', 90_000, 1],
])(
  'a channel that %s is tried on in its time, though the clock was set back meanwhile',
  async (_, retryAfterMs, count) => {
    const { area, time, script, sent, states } = await withRule();
    script.answer = async () => ({ ...failed(), retryAfterMs }) as SendOutcome;
    for (let n = 0; n < count; n += 1) area.monitor.note(incidentOf(time, `agent-${n}`));
    await settle();
    time.setWallClock(-HOUR_MS);
    await time.pass(91_000);
    await settle();
    // One tries, in vain: another rest begins.
    expect(sent).toHaveLength(count + 1);
    script.answer = async () => ({ ok: true });
    await time.pass(2 * 91_000);
    await settle();
    expect(states()).toEqual(new Array(count).fill('delivered'));
    await area.stop();
  },
);

it('a notice is tried again after its wait though the clock was set ahead while others waited for longer', async () => {
  const { area, time, script, states } = await withRule();
  script.answer = async () => ({ ...failed('it answers 429'), retryAfterMs: 300_000 }) as SendOutcome;
  area.monitor.note(incidentOf(time, 'asked-to-wait'));
  await settle();
  time.setWallClock(400_000);
  script.answer = async () => failed();
  area.monitor.note(incidentOf(time));
  await settle();
  script.answer = async () => ({ ok: true });
  await time.pass(6_000);
  await settle();
  expect(states()).toEqual(['delivered', 'delivered']);
  await area.stop();
});

it('a notice that waits for its next attempt does not grow old because the clock was set two days ahead', async () => {
  const { area, time, script, states } = await withRule();
  script.answer = async () => failed();
  area.monitor.note(incidentOf(time));
  await settle();
  time.setWallClock(48 * HOUR_MS);
  await time.pass(60_000);
  await settle();
  expect(states()).toContain('pending');
  expect(states()).not.toContain('dead');
  await area.stop();
});

it.each([
  ['a day', 'dead', 60_000],
  ['almost a day', 'pending', -60_000],
])(
  'a notice that waited for %s without a process is %s at its next failure, by the clock on the wall',
  async (_, state, beyondMs) => {
    const { area, store, time, script, states } = await withRule();
    script.answer = async () => failed();
    keepIncident(store, incidentOf(time));
    area.monitor.note(incidentOf(time));
    await settle();
    await area.stop();
    time.setWallClock(24 * HOUR_MS + beyondMs);
    const next = await startAlerts({ store, time, answer: async () => failed() });
    await settle();
    expect(states()).toContain(state);
    expect([...store.rows.values()]).toContainEqual(expect.objectContaining({ attempt_count: 2, state }));
    await next.area.stop();
  },
);

describe('an agent is missed after the time that has passed without it', () => {
  const WINDOW_S = 600;
  const step = (time: FakeTime) =>
    ({
      kind: 'step',
      tenant_id: 'default',
      agent_id: 'crawler',
      session_id: 's1',
      at_ms: time.nowMs(),
      severity: 'normal',
      ended: false,
    }) as const;

  async function withSilentRule() {
    const alerts = await startAlerts();
    const body = alertRuleBodySchema.parse({ name: 'Silent', type: 'agent_silent', window_s: WINDOW_S });
    const { rule_id } = await alerts.area.rules.create(ADMIN, body);
    const isMissed = () =>
      alerts.area.rules.list('default').some((rule) => rule.rule_id === rule_id && rule.firing.length > 0);
    return { ...alerts, isMissed };
  }

  it.each([
    ['an hour ahead', HOUR_MS],
    ['an hour back', -HOUR_MS],
  ])('though the clock was set %s', async (_, byMs) => {
    const { area, time, isMissed } = await withSilentRule();
    area.monitor.note(step(time));
    time.setWallClock(byMs);
    await time.pass((WINDOW_S - 1) * 1_000);
    expect(isMissed()).toBe(false);
    await time.pass(2_000);
    expect(isMissed()).toBe(true);
    area.monitor.note(step(time));
    expect(isMissed()).toBe(false);
    await area.stop();
  });

  it('and not while it is heard of, though the clock was set back between', async () => {
    const { area, time, isMissed } = await withSilentRule();
    area.monitor.note(step(time));
    time.setWallClock(-HOUR_MS);
    for (let n = 0; n < 3; n += 1) {
      await time.pass((WINDOW_S - 1) * 1_000);
      area.monitor.note(step(time));
      expect(isMissed()).toBe(false);
    }
    await area.stop();
  });
});
