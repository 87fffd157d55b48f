/** Somebody sets the wall clock while alerts fire: nobody is flooded, and nobody waits for the time that was. */
import { expect, it } from 'vitest';
import { ADMIN, failed, incidentOf, settle, startAlerts, WEBHOOK } from './alerts-harness.js';

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
