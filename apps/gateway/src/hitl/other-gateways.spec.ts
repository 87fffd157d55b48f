import { describe, expect, it } from 'vitest';
import { type ControlWord, type SessionAct, sessionKey } from '#contracts';
import { DeskHarness, operator, TENANT } from './desk.fixture.js';

const PAUSE = { reason: 'let me look' };
const BY = { tenant_id: TENANT, operator_id: 'eve', role: 'operator', gateway_id: 'there' } as const;

const wordsOf = (h: DeskHarness): ControlWord['act'][] => {
  const acts: ControlWord['act'][] = [];
  h.desk.tell = ({ act }) => acts.push(act);
  return acts;
};
const PAUSED: SessionAct = {
  kind: 'command',
  session_id: 's-1',
  command: { command: 'pause', reason: 'from there' },
  directive_id: 'there-1',
};

describe('other gateways', () => {
  it('are told what changed here or was said again, and nothing that was refused or concerns this one alone', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const acts = wordsOf(h);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.step(key, 't-1');
    await h.desk.execute(operator(), 's-1', 'rewrite', { trace_id: 't-1', new_content: 'x' });
    await h.desk.execute(operator(), 's-1', 'terminate', { reason: 'enough' });
    await expect(h.desk.execute(operator(), 's-1', 'resume', {})).rejects.toMatchObject({ status: 409 });
    expect(acts.map((act) => (act.kind === 'command' ? act.command : act.kind))).toEqual([
      { command: 'pause', ...PAUSE },
      { command: 'pause', ...PAUSE },
      { command: 'terminate', reason: 'enough' },
    ]);
  });

  it('are not told of a pause that is over: its time passes there, too', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const acts = wordsOf(h);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.time.pass(60_000);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
    expect(acts).toHaveLength(1);
  });

  it('are asked before a pause is over: one of them may have ended it a moment ago', async () => {
    const h = await DeskHarness.start();
    h.config.hitl_expiry_action = 'terminate';
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const resumed = { command: 'resume' } as const;
    h.desk.hearOthers = () =>
      h.desk.hear(
        BY,
        { kind: 'command', session_id: 's-1', command: resumed, directive_id: 'there-2' },
        0,
        () => true,
      );
    await h.time.pass(60_000);
    await h.desk.settled();
    expect(h.desk.view(key)).toMatchObject({ state: 'active', operator_id: 'eve' });
  });

  it('are obeyed as they were told, and not told what they said', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const acts = wordsOf(h);
    const atMs = h.time.nowMs();
    await h.time.pass(40_000);
    await h.desk.hear(BY, PAUSED, 40_000, () => true);
    expect(h.desk.view(key)).toMatchObject({
      state: 'pause_requested',
      operator_id: 'eve',
      reason: 'from there',
      since_ms: atMs,
      expires_at_ms: atMs + 60_000,
    });
    expect(h.desk.answerFor(key).directives).toMatchObject([{ directive_id: 'there-1', type: 'pause' }]);
    await h.desk.hear(BY, { kind: 'acknowledged', session_id: 's-1' }, 0, () => true);
    expect(h.desk.view(key).state).toBe('paused');
    expect(h.store.audit[0]).toMatchObject({
      operator_id: 'eve',
      detail: { reason: 'from there', gateway_id: 'there' },
    });
    await h.time.pass(20_000);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
    expect(acts).toEqual([]);
  });

  it('are too late where something else was commanded here meanwhile', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.hear(BY, PAUSED, 0, () => false);
    expect(h.desk.view(key).state).toBe('active');
  });

  it('leave nothing to be heard, and no place taken, in a session that only they have seen', async () => {
    const h = await DeskHarness.start();
    const key = sessionKey(TENANT, 's-1');
    const inject: SessionAct = {
      ...PAUSED,
      command: { command: 'inject', prompt: 'stop' },
    } as SessionAct;
    await h.desk.hear(BY, inject, 0, () => true);
    await h.desk.hear(BY, PAUSED, 0, () => true);
    expect(h.desk.isHolding(key)).toBe(true);
    expect(h.desk.answerFor(key)).toEqual({ state: 'paused', directives: [] });
    const resume = { ...PAUSED, command: { command: 'resume' } } as SessionAct;
    await h.desk.hear(BY, resume, 0, () => true);
    expect(h.desk.isHolding(key)).toBe(false);
    expect(await h.metric('observatory_hitl_sessions_bound')).toBe(0);
  });
});

it('a session to which somebody merely listens is none that an operator can command', async () => {
  const h = await DeskHarness.start();
  h.desk.attachListener(sessionKey(TENANT, 's-1'), () => {});
  await expect(h.desk.execute(operator(), 's-1', 'pause', PAUSE)).rejects.toMatchObject({ status: 404 });
});

it('a word that waits for the store is no command yet: it is counted once it is obeyed', async () => {
  const h = await DeskHarness.start();
  await h.session();
  const hear = () => h.desk.hear(BY, PAUSED, 0, () => true);
  h.store.refuses = 'store_busy';
  for (const _ of [1, 2]) await expect(hear()).rejects.toMatchObject({ code: 'store_busy' });
  h.store.refuses = null;
  await hear();
  const counted = await h.metrics.getSingleMetric('observatory_hitl_commands_total')?.get();
  expect(counted?.values).toMatchObject([{ labels: { command: 'pause', outcome: 'ok' }, value: 1 }]);
});
