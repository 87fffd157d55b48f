import { describe, expect, it, vi } from 'vitest';
import { LIMITS, ObservatoryError, sessionKey } from '#contracts';
import { deferred, Interrupt } from '#kernel';
import { turn } from '#testing';
import { STORED_WITHIN_MS } from '../stored-in-time.js';
import { DeskHarness, operator, TENANT } from './desk.fixture.js';

const PAUSE = { reason: 'let me look' };
const AGENT = { isAgent: true, waitMs: 55_000 };

/** Whether the promise has settled, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await turn();
  return settled;
}

describe('a proxied call that comes while its session is being stopped', () => {
  const stopping = async (command: 'pause' | 'terminate') => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.store.isManual = true;
    const stop = h.desk.execute(operator(), 's-1', command, PAUSE);
    expect(h.desk.answerForCall(key).state).toBe('paused');
    expect(h.desk.answerForCall(sessionKey(TENANT, 'other')).state).toBe('active');
    const call = h.desk.holdCall(key, { waitMs: 50_000, interrupt: new Interrupt() });
    expect(await isSettled(call)).toBe(false);
    return { h, key, stop, call };
  };

  it('waits until the termination is written, and is refused', async () => {
    const { h, stop, call } = await stopping('terminate');
    h.store.commit();
    await stop;
    expect(await call).toMatchObject({ state: 'terminated' });
  });

  it('waits until the pause is written, acknowledges it, and is held by it', async () => {
    const { h, key, stop, call } = await stopping('pause');
    h.store.isManual = false;
    h.store.commit();
    await stop;
    expect(await isSettled(call)).toBe(false);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('paused');
    await h.desk.execute(operator(), 's-1', 'resume', {});
    expect(await call).toMatchObject({ state: 'active' });
  });

  it('goes on where the stop is refused, which wakes no poll', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const refusal = deferred<never>();
    vi.spyOn(h.store, 'commitControl').mockReturnValue(refusal.promise);
    const stop = h.desk.execute(operator(), 's-1', 'terminate', PAUSE);
    const call = h.desk.holdCall(key, { waitMs: 50_000, interrupt: new Interrupt() });
    const poll = h.desk.poll(key, AGENT);
    expect([await isSettled(call), await isSettled(poll)]).toEqual([false, false]);
    refusal.reject(new ObservatoryError('store_busy'));
    await expect(stop).rejects.toMatchObject({ code: 'store_busy' });
    expect(await call).toMatchObject({ state: 'active' });
    expect(await isSettled(poll)).toBe(false);
    await h.desk.drain();
  });

  it.each([
    ['pause', 'paused'],
    ['terminate', 'terminated'],
  ] as const)(
    'waits on where the disk hangs, and whoever asked for the %s hears so',
    async (command, state) => {
      const { h, key, stop, call } = await stopping(command);
      const told = stop.catch((error: unknown) => error);
      await h.time.pass(STORED_WITHIN_MS - 1);
      expect([await isSettled(told), await isSettled(call)]).toEqual([false, false]);
      await h.time.pass(1);
      const detail = expect.stringContaining('it is done once it is stored');
      expect(await told).toMatchObject({ code: 'store_busy', detail });
      expect(h.desk.answerForCall(key).state).toBe('paused');
      h.store.isManual = false;
      h.store.commit();
      await h.desk.settled();
      expect(h.desk.answerForCall(key).state).toBe(state);
    },
  );

  it('is let go when its client leaves or the gateway ends before that', async () => {
    const { h, key, call } = await stopping('terminate');
    const interrupt = new Interrupt();
    const left = h.desk.holdCall(key, { waitMs: 50_000, interrupt });
    await turn();
    interrupt.raise();
    expect(await left).toMatchObject({ state: 'paused' });
    void h.desk.drain();
    expect(await call).toMatchObject({ state: 'paused' });
    expect(h.desk.hangingPollCount).toBe(0);
  });

  it('is told to try again when its time is up before that', async () => {
    const { h, stop, call } = await stopping('terminate');
    const told = expect(stop).rejects.toMatchObject({ code: 'store_busy' });
    await h.time.pass(50_000);
    expect(await call).toMatchObject({ state: 'paused' });
    await told;
  });
});

describe('a proxied call that is held', () => {
  it('is let go when its time is up, also where somebody sets the clock back meanwhile', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const held = h.desk.holdCall(key, { waitMs: 50_000, interrupt: new Interrupt() });
    await h.time.pass(49_000);
    h.time.setWallClock(-3_600_000);
    await h.time.pass(999);
    expect(await isSettled(held)).toBe(false);
    await h.time.pass(1);
    expect(await isSettled(held)).toBe(true);
    expect(await held).toMatchObject({ state: 'paused' });
  });

  it('is let go, still paused, when its client leaves and when the gateway ends', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const interrupt = new Interrupt();
    const left = h.desk.holdCall(key, { waitMs: 50_000, interrupt });
    const held = h.desk.holdCall(key, { waitMs: 50_000, interrupt: new Interrupt() });
    await turn();
    interrupt.raise();
    expect(await left).toMatchObject({ state: 'paused' });
    expect(h.desk.hangingPollCount).toBe(1);
    await h.desk.drain();
    expect(await held).toMatchObject({ state: 'paused' });
    expect(h.desk.hangingPollCount).toBe(0);
  });

  it('obeys for a client that listens to nothing: pause and resume wait for nobody, guidance for the model', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    h.desk.noteProxied(key);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('pause_requested');
    const held = h.desk.holdCall(key, { waitMs: 50_000, interrupt: new Interrupt() });
    await turn();
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('paused');
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'Use staging.' });
    await h.desk.execute(operator(), 's-1', 'resume', {});
    expect((await held).directives).toMatchObject([{ type: 'inject' }, { type: 'resume' }]);
    await h.desk.settled();
    expect(h.store.rows.get(key)).toMatchObject({ cooperative: false, directives: [{ type: 'inject' }] });

    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    h.desk.noteProxied(key);
    await h.desk.settled();
    expect(h.store.rows.get(key)?.directives).toMatchObject([{ type: 'inject' }]);
  });

  it('takes nothing for a client that listens by itself', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.poll(key, { isAgent: true, waitMs: 0 });
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    h.desk.noteProxied(key);
    await h.desk.settled();
    expect(h.desk.answerFor(key).directives).toMatchObject([{ type: 'resume' }]);
  });
});

describe('an agent that shows how it listens', () => {
  it('while a command is written is known as that afterwards', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.store.isManual = true;
    const paused = h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await turn();
    h.desk.attachListener(key, () => {});
    h.store.commit();
    await paused;
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', mode: 'cooperative' });
  });

  it('while its session is read from the store is known as that afterwards', async () => {
    const before = await DeskHarness.start();
    const key = await before.session();
    await before.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    for (const trace of ['t-1', 't-2']) await before.step(key, trace);
    await before.desk.settled();
    const h = await before.restart();
    h.desk.attachListener(key, () => {});
    await turn();
    expect(h.desk.view(key).mode).toBe('cooperative');
  });
});

describe('guidance that ingest answers carried', () => {
  it("is in the session's next call all the same, and taken once a model has it", async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'Use staging.' });
    await h.step(key, 't-1');
    expect((await h.step(key, 't-2')).directives).toEqual([]);
    const now = { waitMs: 0, interrupt: new Interrupt() };
    const { directives } = await h.desk.holdCall(key, now);
    expect(directives).toMatchObject([{ type: 'inject', prompt: 'Use staging.' }]);
    expect(h.desk.answerForCall(key).directives).toEqual(directives);
    await h.desk.takeInjections(
      key,
      directives.map(({ directive_id }) => directive_id),
    );
    expect(h.desk.answerForCall(key).directives).toEqual([]);
  });

  it('is in no call once the agent itself has confirmed it', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'Use staging.' });
    for (const trace of ['t-1', 't-2']) await h.step(key, trace);
    const { directives } = h.desk.answerForCall(key);
    expect(directives).toMatchObject([{ type: 'inject' }]);
    await h.desk.acknowledge(key, directives[0]?.seq ?? 0);
    expect(h.desk.answerForCall(key).directives).toEqual([]);
  });

  /** Guidance of a session behind the proxy whose agent reports its steps as well. */
  const withReportedSteps = async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'Use staging.' });
    for (const trace of ['t-1', 't-2', 't-3']) await h.step(key, trace);
    return { h, key };
  };

  it('is shown as waiting until a model behind the proxy has it, however many steps its agent makes', async () => {
    const { h, key } = await withReportedSteps();
    const shown = () => ({
      view: h.desk.view(key).pending_directive_count,
      row: h.views.get(key)?.pending_directive_count,
      opened: h.desk.pendingDirectives(key).length,
      live: h.events.findLast((event) => event.kind === 'control')?.directives.length,
    });
    expect(shown()).toEqual({ view: 1, row: 1, opened: 1, live: 1 });
    await h.desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    expect(shown()).toEqual({ view: 2, row: 2, opened: 2, live: 2 });
    await h.desk.takeInjections(key, [h.desk.answerForCall(key).directives[0]?.directive_id as string]);
    expect(shown()).toEqual({ view: 1, row: 1, opened: 1, live: 1 });
  });

  it('waits for no model of a session that has ended', async () => {
    const { h, key } = await withReportedSteps();
    await h.desk.execute(operator(), 's-1', 'terminate', { reason: 'enough' });
    const live = h.events.findLast((event) => event.kind === 'control');
    expect(live?.directives).toMatchObject([{ type: 'terminate' }]);
    expect(h.views.get(key)?.pending_directive_count).toBe(1);
  });

  it('acknowledges no pause of an agent that goes on, once a model has it', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'Use staging.' });
    const [guidance] = h.desk.answerForCall(key).directives;
    await h.desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    for (const trace of ['t-1', 't-2', 't-3']) await h.step(key, trace);
    await h.desk.takeInjections(key, [guidance?.directive_id as string]);
    expect(h.desk.view(key).state).toBe('pause_requested');
    await h.desk.acknowledge(key, 2);
    expect(h.desk.view(key).state).toBe('paused');
  });
});

describe('the control poll', () => {
  it('answers at once when the session is not active', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(await h.desk.poll(key, AGENT)).toMatchObject({
      session_id: 's-1',
      state: 'paused',
      cursor: 1,
      directives: [{ type: 'pause', seq: 1, reason: 'let me look' }],
    });
  });

  it('answers at once when directives wait', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    expect(await h.desk.poll(key, AGENT)).toMatchObject({
      state: 'active',
      directives: [{ type: 'inject', prompt: 'hint' }],
    });
  });

  it('waits for a change, and wakes with it', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const polled = h.desk.poll(key, AGENT);
    expect(await isSettled(polled)).toBe(false);
    expect(await h.metric('observatory_hitl_polls_hanging')).toBe(1);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(await polled).toMatchObject({ state: 'paused', cursor: 1 });
    expect(await h.metric('observatory_hitl_polls_hanging')).toBe(0);
  });

  it('answers the current state with nothing new when the wait is over', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const polled = h.desk.poll(key, AGENT);
    await turn();
    await h.time.pass(55_000);
    expect(await polled).toEqual({ session_id: 's-1', state: 'active', directives: [], cursor: 0 });
  });

  it('answers at once without a wait', async () => {
    const h = await DeskHarness.start();
    expect(await h.desk.poll(await h.session(), { isAgent: true, waitMs: 0 })).toMatchObject({
      state: 'active',
    });
  });

  it('lets an agent wait before its first step', async () => {
    const h = await DeskHarness.start();
    const key = sessionKey(TENANT, 's-unborn');
    const polled = h.desk.poll(key, AGENT);
    expect(await isSettled(polled)).toBe(false);
    await h.desk.pauseBySystem(key, 'hitl_required');
    expect(await polled).toMatchObject({ state: 'paused' });
  });

  it('waits for what comes after the cursor, though the session is paused', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const polled = h.desk.poll(key, { ...AGENT, after: 1 });
    expect(await isSettled(polled)).toBe(false);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    expect(await polled).toMatchObject({
      state: 'active',
      cursor: 2,
      directives: [{ type: 'resume', seq: 2 }],
    });
  });

  it('takes what the cursor covers, durably', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'one' });
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'two' });
    expect(await h.desk.poll(key, { ...AGENT, after: 1 })).toMatchObject({ directives: [{ prompt: 'two' }] });
    await h.desk.settled();
    expect(h.store.rows.get(key)?.directives.map(({ seq }) => seq)).toEqual([2]);
    expect(h.desk.view(key).pending_directive_count).toBe(1);
  });

  it('resumes from its cursor after a restart', async () => {
    const before = await DeskHarness.start();
    const key = await before.session();
    await before.desk.execute(operator(), 's-1', 'inject', { prompt: 'one' });
    const { cursor } = await before.desk.poll(key, AGENT);
    await before.desk.confirm(key, { kind: 'taken', upToSeq: cursor }, 'ack');
    // Plainly active with nothing waiting: not among what is loaded at start.
    const h = await before.restart();
    const polled = h.desk.poll(key, { ...AGENT, after: cursor });
    expect(await isSettled(polled)).toBe(false);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'two' });
    expect(await polled).toMatchObject({ cursor: 2, directives: [{ seq: 2, prompt: 'two' }] });
  });

  it('delivers again after a restart what was not confirmed', async () => {
    const before = await DeskHarness.start();
    const key = await before.session();
    await before.desk.execute(operator(), 's-1', 'inject', { prompt: 'one' });
    const first = await before.desk.poll(key, AGENT);
    const h = await before.restart();
    expect(await h.desk.poll(key, AGENT)).toEqual(first);
  });

  it('answers a cursor from another life at once, with everything that waits', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'one' });
    expect(await h.desk.poll(key, { ...AGENT, after: 99 })).toMatchObject({
      cursor: 1,
      directives: [{ prompt: 'one' }],
    });
  });

  it('frees its place when the client hangs up', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const client = new Interrupt();
    const polled = h.desk.poll(key, { ...AGENT, interrupt: client });
    await turn();
    const timerCount = h.time.timerCount;
    client.raise();
    await polled;
    expect(await h.metric('observatory_hitl_polls_hanging')).toBe(0);
    expect(h.time.timerCount).toBe(timerCount - 1);
  });

  it('refuses one poll of a tenant too many, takes it again when a place is free, and leaves the others theirs', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const clients = Array.from({ length: LIMITS.pollsHangingMax / 2 }, () => new Interrupt());
    const polls = clients.map((interrupt) => h.desk.poll(key, { ...AGENT, interrupt }));
    await turn();
    await expect(h.desk.poll(key, AGENT)).rejects.toMatchObject({ code: 'too_many_polls', status: 503 });
    expect(await isSettled(h.desk.poll(sessionKey('another', 's-1'), AGENT))).toBe(false);
    for (const client of clients) client.raise();
    await Promise.all(polls);
    expect(await isSettled(h.desk.poll(key, AGENT))).toBe(false);
  }, 30_000);

  it('answers every hanging poll on drain, and refuses those that would hang afterwards: answered at once, agents ask without end', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const polled = h.desk.poll(key, AGENT);
    await turn();
    await h.desk.drain();
    expect(await polled).toMatchObject({ state: 'active' });
    const refused = { code: 'draining', extra: { retryAfterSeconds: 5 } };
    await expect(h.desk.poll(key, AGENT)).rejects.toMatchObject(refused);
    expect(await h.desk.poll(key, { ...AGENT, waitMs: 0 })).toMatchObject({ state: 'active' });
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(await h.desk.poll(key, AGENT)).toMatchObject({ state: 'paused' });
  });

  it('never hears of another tenant', async () => {
    const h = await DeskHarness.start();
    await h.session();
    const polled = h.desk.poll(sessionKey('acme', 's-1'), AGENT);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(await isSettled(polled)).toBe(false);
  });
});

describe('acknowledgement', () => {
  it('counts a delivered poll answer, makes the agent cooperative, and is audited as system', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', mode: 'observe_only' });
    const answer = await h.desk.poll(key, AGENT);
    expect(h.desk.view(key).state).toBe('pause_requested');
    await h.time.pass(250);
    h.desk.noteDelivered(key, answer);
    await h.desk.settled();
    expect(h.desk.view(key)).toMatchObject({ state: 'paused', mode: 'cooperative', operator_id: 'ada' });
    expect(h.store.rows.get(key)).toMatchObject({ state: 'paused', cooperative: true });
    expect(h.audited().at(-1)).toBe('system hitl.acknowledge pause_requested>paused ok');
    // Shown is not taken: a poll that lost the answer gets it again.
    expect(await h.desk.poll(key, AGENT)).toEqual(answer);
  });

  it('is not satisfied by an answer from before the pause', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const stale = await h.desk.poll(key, AGENT);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    h.desk.noteDelivered(key, stale);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('pause_requested');
  });

  it('does not follow from an ingest answer, which merely informs', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect((await h.step(key, 't-1')).directives.map(({ type }) => type)).toEqual(['pause']);
    expect((await h.step(key, 't-2')).directives).toEqual([]);
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', mode: 'observe_only' });
  });

  it('confirms by number or by name, and twice is once', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    await h.desk.confirm(key, { kind: 'taken_ids', directiveIds: ['d-2'] }, 'ack');
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', pending_directive_count: 1 });
    await h.desk.acknowledge(key, 1);
    await h.desk.acknowledge(key, 1);
    expect(h.desk.view(key)).toMatchObject({ state: 'paused', pending_directive_count: 0 });
    expect(h.audited().filter((line) => line.includes('hitl.acknowledge')).length).toBe(1);
  });

  it('takes nothing for confirmed by a number that was never issued', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.acknowledge(key, 99);
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', pending_directive_count: 1 });
  });

  it('leaves an operator who looks at the poll without any effect', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    await h.desk.poll(key, { isAgent: false, waitMs: 0, after: 1 });
    expect(h.desk.view(key)).toMatchObject({ mode: 'observe_only', pending_directive_count: 1 });
  });
});

describe('delivery', () => {
  it('repeats a directive in ingest answers until a step came in behind one that carried it', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    expect(h.desk.answerFor(key).directives.length).toBe(1);
    expect(h.desk.answerFor(key).directives.length).toBe(1);
    expect((await h.step(key, 't-1')).directives.length).toBe(1);
    expect((await h.step(key, 't-2')).directives).toEqual([]);
    await h.desk.settled();
    expect(h.store.rows.get(key)?.directives).toEqual([]);
  });

  it('keeps guidance for a model behind the proxy over a restart, until the model has it', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    for (const trace of ['t-1', 't-2', 't-3']) await h.step(key, trace);
    expect(h.desk.answerFor(key).directives).toEqual([]);
    await h.desk.settled();
    const next = await h.restart();
    const { directives } = next.desk.answerForCall(key);
    expect(directives).toMatchObject([{ prompt: 'hint' }]);
    next.desk.noteProxied(key);
    for (const trace of ['t-4', 't-5']) await next.step(key, trace);
    await next.desk.takeInjections(key, [directives[0]?.directive_id as string]);
    await next.desk.settled();
    expect(next.desk.answerForCall(key).directives).toEqual([]);
    expect((await next.restart()).desk.answerForCall(key).directives).toEqual([]);
  });

  it('keeps it over a second one, before which its agent made steps and no call', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    for (const trace of ['t-1', 't-2', 't-3']) await h.step(key, trace);
    await h.desk.settled();
    const second = await h.restart();
    for (const trace of ['t-4', 't-5', 't-6']) await second.step(key, trace);
    await second.desk.settled();
    const third = await second.restart();
    expect(third.desk.answerForCall(key).directives).toMatchObject([{ prompt: 'hint' }]);
  });

  it('keeps it over a restart though steps had carried it before the first call of its session came', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    for (const trace of ['t-1', 't-2']) await h.step(key, trace);
    await h.desk.settled();
    expect(h.store.rows.get(key)?.directives).toEqual([]);
    h.desk.noteProxied(key);
    expect(h.desk.view(key).pending_directive_count).toBe(1);
    await h.desk.settled();
    const next = await h.restart();
    expect(next.desk.answerForCall(key).directives).toMatchObject([{ prompt: 'hint' }]);
  });

  it('keeps it over a restart though a pause for which nobody came expired meanwhile', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.noteProxied(key);
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    for (const trace of ['t-1', 't-2', 't-3']) await h.step(key, trace);
    await h.desk.askForPerson(key, 'a-1');
    await h.time.pass(60_000);
    await h.desk.settled();
    expect(h.desk.pendingDirectives(key)).toMatchObject([{ prompt: 'hint' }, { type: 'resume' }]);
    const next = await h.restart();
    expect(next.desk.answerForCall(key).directives).toMatchObject([{ prompt: 'hint' }, { type: 'resume' }]);
  });

  it('still gives a poll that is behind what an ingest answer carried meanwhile', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const { cursor } = await h.desk.poll(key, { isAgent: true, waitMs: 0 });
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    await h.step(key, 't-1');
    await h.step(key, 't-2');
    expect(await h.desk.poll(key, { ...AGENT, after: cursor })).toMatchObject({
      directives: [{ prompt: 'hint' }],
    });
    expect(await isSettled(h.desk.poll(key, { ...AGENT, after: 1 }))).toBe(false);
  });

  it('gives a poll that is behind no word of a pause that is over', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    for (const trace of ['t-1', 't-2']) await h.step(key, trace);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    const { directives } = await h.desk.poll(key, { isAgent: true, waitMs: 0, after: 0 });
    expect(directives).toMatchObject([{ type: 'resume' }]);
  });

  it('writes behind what was taken with the next step where the store refused it once', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'one' });
    await h.step(key, 't-1');
    h.store.refuses = 'store_busy';
    h.desk.noteStep(key);
    await h.desk.settled();
    h.store.refuses = null;
    expect(h.store.rows.get(key)?.directives).toHaveLength(1);
    expect(h.logged.filter((line) => line.includes('confirmation of directives not written'))).toHaveLength(
      1,
    );
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    for (const trace of ['t-2', 't-3']) await h.step(key, trace);
    await h.desk.settled();
    expect(h.store.rows.get(key)?.directives).toEqual([]);
  });

  it('keeps a directive that was issued while another was taken', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'one' });
    await h.step(key, 't-1');
    h.store.isManual = true;
    const injected = h.desk.execute(operator(), 's-1', 'inject', { prompt: 'two' });
    await turn();
    h.desk.noteStep(key);
    h.store.isManual = false;
    h.store.commit();
    await injected;
    await h.desk.settled();
    expect(h.desk.answerFor(key).directives.map(({ prompt }) => prompt)).toEqual(['two']);
    expect(h.store.rows.get(key)?.directives.map(({ prompt }) => prompt)).toEqual(['two']);
  });

  it('pushes to a socket what waits when it comes, and then each change', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const push = vi.fn();
    const detach = h.desk.attachListener(key, push);
    expect(push).toHaveBeenLastCalledWith(
      expect.objectContaining({ session_id: 's-1', state: 'paused', cursor: 1 }),
    );
    expect(h.desk.view(key).mode).toBe('cooperative');
    await h.desk.execute(operator(), 's-1', 'resume', {});
    expect(push).toHaveBeenLastCalledWith(expect.objectContaining({ state: 'active', cursor: 2 }));
    detach();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(push).toHaveBeenCalledTimes(2);
  });

  it('tells a socket that comes back of the end of a pause, though another one has taken it meanwhile', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const leave = h.desk.attachListener(key, () => {});
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.acknowledge(key, 1);
    leave();
    await h.desk.execute(operator(), 's-1', 'resume', {});
    await h.desk.acknowledge(key, 2);
    const push = vi.fn();
    h.desk.attachListener(key, push);
    expect(push.mock.calls).toEqual([[{ session_id: 's-1', state: 'active', directives: [], cursor: 2 }]]);
  });

  it('has nothing to tell a socket of a session that nobody ever commanded', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.poll(key, { isAgent: true, waitMs: 0 });
    const push = vi.fn();
    h.desk.attachListener(key, push);
    await h.desk.settled();
    expect(push).not.toHaveBeenCalled();
  });

  it('does not let a socket that fails keep the others from hearing', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.desk.attachListener(key, () => {
      throw new Error('gone');
    });
    const push = vi.fn();
    h.desk.attachListener(key, push);
    expect(await h.desk.execute(operator(), 's-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
    expect(push).toHaveBeenCalledTimes(1);
  });
});
