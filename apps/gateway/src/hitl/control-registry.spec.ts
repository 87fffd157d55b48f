import { describe, expect, it } from 'vitest';
import { RELEASED_STEPS_MAX, type SessionKey, sessionKey, splitSessionKey } from '#contracts';
import { initialControl } from '#domain/hitl';
import { FakeTime, turn } from '#testing';
import { DeskHarness, FakeStore, operator } from './desk.fixture.js';

const PAUSE = { reason: 'let me look' };
/** Of seven places, agents of all tenants may take five, those of one tenant three; a tenant has five at most. */
const BOUNDS = {
  controlsMax: 7,
  controlsReservedForOperators: 2,
  controlsPerTenantMax: 5,
  systemPausesPerTenantMax: 3,
  terminatedKeptMax: 2,
};

const start = () => DeskHarness.start(new FakeStore(), new FakeTime(), BOUNDS);
const keysOf = (tenantId: string, count: number): SessionKey[] =>
  Array.from({ length: count }, (_, at) => sessionKey(tenantId, `s-${at + 1}`));

/** As the ingest path does when an agent asks for a person. */
async function ask(h: DeskHarness, keys: SessionKey[]): Promise<void> {
  for (const key of keys) {
    await h.desk.pauseBySystem(key, 'hitl_required');
    await h.step(key, `${key}-first`);
  }
}

describe('sessions under control', () => {
  it("agents of one tenant take that tenant's share, and the answer says which bound it is and what helps", async () => {
    const h = await start();
    await ask(h, keysOf('noisy', 3));
    await expect(ask(h, [sessionKey('noisy', 's-4')])).rejects.toMatchObject({
      code: 'store_busy',
      detail: expect.stringMatching(/this tenant.*systemPausesPerTenantMax.*resume or terminate/),
      extra: { retryAfterSeconds: 60 },
    });
    await ask(h, keysOf('quiet', 1));
    expect(await h.metric('observatory_hitl_controls_refused_total')).toBe(1);
  });

  it('agents of all tenants together leave a reserve to operators, who still pause and inject', async () => {
    const h = await start();
    const [first, second] = [await h.session('s-8', 'quiet'), await h.session('s-9', 'quiet')];
    await ask(h, keysOf('noisy', 3));
    await ask(h, keysOf('noisy too', 2));
    await expect(h.desk.pauseBySystem(first, 'hitl_required')).rejects.toMatchObject({
      detail: expect.stringContaining('controlsMax'),
    });
    const ada = operator('ada', 'quiet');
    expect(await h.desk.execute(ada, 's-8', 'pause', PAUSE)).toEqual({ status: 'ok' });
    expect(await h.desk.execute(ada, 's-9', 'inject', { prompt: 'read the log' })).toEqual({ status: 'ok' });
    expect([first, second].map((key) => h.desk.view(key))).toMatchObject([
      { state: 'pause_requested' },
      { pending_directive_count: 1 },
    ]);
    await h.session('s-10', 'quiet');
    await expect(h.desk.execute(ada, 's-10', 'pause', PAUSE)).rejects.toMatchObject({ code: 'store_busy' });
  });

  it('sessions that ask at once take no more than those that ask one after another', async () => {
    const h = await start();
    const asked = ['noisy', 'noisy too'].flatMap((tenantId) => keysOf(tenantId, 10));
    const outcomes = await Promise.allSettled(asked.map((key) => h.desk.pauseBySystem(key, 'hitl_required')));
    const paused = asked.filter((_, at) => outcomes[at]?.status === 'fulfilled');
    expect(paused).toEqual([...keysOf('noisy', 3), ...keysOf('noisy too', 2)]);
    const ada = operator('ada', 'quiet');
    const sessions = ['s-1', 's-2', 's-3'];
    for (const sessionId of sessions) await h.session(sessionId, 'quiet');
    const commands = sessions.map((sessionId) => h.desk.execute(ada, sessionId, 'pause', PAUSE));
    expect((await Promise.allSettled(commands)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
  });

  it('operators of one tenant leave room to those of others, who still pause and inject', async () => {
    const h = await start();
    const [eve, ada] = [operator('eve', 'noisy'), operator('ada', 'quiet')];
    for (const [at, key] of keysOf('noisy', 6).entries()) {
      const { sessionId } = splitSessionKey(key);
      await h.session(sessionId, 'noisy');
      const injected = h.desk.execute(eve, sessionId, 'inject', { prompt: 'read the log' });
      if (at < 5) await injected;
      else
        await expect(injected).rejects.toMatchObject({
          code: 'store_busy',
          detail: expect.stringContaining('controlsPerTenantMax'),
        });
    }
    for (const [sessionId, command] of [
      ['s-1', 'pause'],
      ['s-2', 'inject'],
    ] as const) {
      await h.session(sessionId, 'quiet');
      const body = command === 'pause' ? PAUSE : { prompt: 'read the log' };
      expect(await h.desk.execute(ada, sessionId, command, body)).toEqual({ status: 'ok' });
    }
    // Who has its place keeps it, and may make room.
    expect(await h.desk.execute(eve, 's-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
    await h.desk.execute(eve, 's-2', 'terminate', PAUSE);
    expect(await h.desk.execute(eve, 's-6', 'pause', PAUSE)).toEqual({ status: 'ok' });
  });

  it('a pause that the store refuses leaves its place to another', async () => {
    const h = await start();
    h.store.refuses = 'store_busy';
    await Promise.allSettled(keysOf('noisy', 3).map((key) => h.desk.pauseBySystem(key, 'hitl_required')));
    h.store.refuses = null;
    await ask(h, keysOf('noisy', 6).slice(3));
    await expect(ask(h, keysOf('noisy', 1))).rejects.toMatchObject({ code: 'store_busy' });
  });

  it('a pause that is being written keeps its place though its agent shows itself meanwhile', async () => {
    const h = await start();
    await ask(h, keysOf('noisy', 2));
    h.store.isManual = true;
    const [third, fourth] = keysOf('noisy', 4).slice(2) as [SessionKey, SessionKey];
    const pausing = h.desk.pauseBySystem(third, 'hitl_required');
    await turn();
    h.desk.attachListener(third, () => {});
    await expect(h.desk.pauseBySystem(fourth, 'hitl_required')).rejects.toMatchObject({ code: 'store_busy' });
    h.store.isManual = false;
    h.store.commit();
    await pausing;
  });

  it('a session that is paused already asks again without taking another place', async () => {
    const h = await start();
    await ask(h, keysOf('noisy', 3));
    await ask(h, keysOf('noisy', 3));
  });

  it.each(['resume', 'terminate'] as const)(
    'an operator who commands %s makes room in the share',
    async (command) => {
      const h = await start();
      await ask(h, keysOf('noisy', 3));
      await h.desk.execute(operator('ada', 'noisy'), 's-1', command, command === 'resume' ? {} : PAUSE);
      await ask(h, [sessionKey('noisy', 's-4')]);
    },
  );

  it('pauses that expired leave nothing behind, though their agents never came back', async () => {
    const h = await start();
    for (const round of [1, 2, 3, 4]) {
      await ask(
        h,
        keysOf('noisy', 3).map((key) => `${key}-${round}` as SessionKey),
      );
      await h.time.pass(60_000);
      await h.desk.settled();
    }
    expect(await h.metric('observatory_hitl_sessions_bound')).toBe(0);
  });

  it('the share is counted again after a restart', async () => {
    const before = await start();
    await ask(before, keysOf('noisy', 3));
    const h = await DeskHarness.start(before.store, before.time, BOUNDS);
    await expect(ask(h, [sessionKey('noisy', 's-4')])).rejects.toMatchObject({ code: 'store_busy' });
  });
});

it('a session that was terminated stays so to its agent, however many another tenant has terminated', async () => {
  const h = await start();
  const small = sessionKey('small', 's-1');
  const noisy = keysOf('noisy', 4);
  for (const key of [small, ...noisy]) {
    const { tenantId, sessionId } = splitSessionKey(key);
    await h.session(sessionId, tenantId);
    await h.desk.execute(operator('ada', tenantId), sessionId, 'terminate', PAUSE);
  }
  // Memory keeps two, and the others' places were taken from the tenant that has most.
  const inMemory = [small, ...noisy].map((key) => h.desk.answerFor(key).state === 'terminated');
  expect(inMemory).toEqual([true, false, false, false, true]);
});

/** What was put off, by what it was. */
async function deferredBy(h: DeskHarness): Promise<Record<string, number>> {
  const metric = await h.metrics.getSingleMetric('observatory_hitl_deferred_total')?.get();
  return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.what, value]) ?? []);
}

describe('a pause that expired before its agent came back', () => {
  const KEY = sessionKey('noisy', 's-1');
  const expired = async (h: DeskHarness) => {
    await ask(h, [KEY]);
    await h.time.pass(60_000);
    await h.desk.settled();
  };

  it('is not loaded by a start, though the agent still hears of it until then', async () => {
    const h = await start();
    await expired(h);
    expect(h.desk.answerFor(KEY)).toMatchObject({ state: 'active', directives: [{ type: 'resume' }] });
    expect(await h.store.controls()).toEqual([]);
  });

  it('is told after a restart by its state: to a poll with a cursor at once, and to a socket', async () => {
    const before = await start();
    await expired(before);
    const h = await before.restart();
    const told = { state: 'active', directives: [], session_id: 's-1', cursor: 2 };
    const pushed: unknown[] = [];
    h.desk.attachListener(KEY, (control) => pushed.push(control));
    expect(await h.desk.poll(KEY, { after: 1, waitMs: 60_000, isAgent: true })).toEqual(told);
    expect(pushed).toEqual([told]);
  });

  it('answers a poll that hangs when it expires', async () => {
    const h = await start();
    await ask(h, [KEY]);
    const polled = h.desk.poll(KEY, { after: 1, waitMs: 120_000, isAgent: true });
    await h.time.pass(60_000);
    expect(await polled).toMatchObject({ state: 'active', directives: [{ type: 'resume' }], cursor: 2 });
  });

  it('keeps its place for guidance that a model is still to hear, and no longer', async () => {
    const h = await start();
    h.desk.noteProxied(KEY);
    await h.step(KEY, 't-1');
    await h.desk.execute(operator('ada', 'noisy'), 's-1', 'inject', { prompt: 'hint' });
    for (const trace of ['t-2', 't-3']) await h.step(KEY, trace);
    // Of an agent that listens by itself the proxy takes no word of the expiry.
    h.desk.attachListener(KEY, () => {});
    await expired(h);
    expect(await h.metric('observatory_hitl_sessions_bound')).toBe(1);
    const [hint] = h.desk.pendingDirectives(KEY);
    await h.desk.takeInjections(KEY, [hint?.directive_id as string]);
    expect(h.desk.pendingDirectives(KEY)).toMatchObject([{ type: 'resume' }]);
    expect(await h.metric('observatory_hitl_sessions_bound')).toBe(0);
  });

  it('lets go all it held though the process dies before the release is done', async () => {
    const before = await start();
    await ask(before, [KEY]);
    for (let count = 0; count < 2 * RELEASED_STEPS_MAX; count += 1) await before.step(KEY, `t-${count}`);
    before.store.isManual = true;
    await before.time.pass(60_000);
    for (let writes = 0; writes < 9 && before.store.rows.get(KEY)?.state !== 'active'; writes += 1) {
      before.store.commit(1);
      await turn();
    }
    expect(before.store.rows.get(KEY)?.state).toBe('active');
    before.store.loseQueued();
    before.store.isManual = false;
    expect(await before.store.heldCounts()).toMatchObject([{ session_id: 's-1' }]);
    const h = await before.restart();
    await h.desk.settled();
    expect(await h.store.heldCounts()).toEqual([]);
    expect(await h.store.controls()).toEqual([]);
  });

  it('lets go what a crash left held though nothing waits for the agent any more', async () => {
    const store = new FakeStore();
    await store.appendStep(KEY, 't-1', true);
    const h = await DeskHarness.start(store);
    await h.desk.settled();
    expect(h.published).toEqual(['t-1']);
    expect(await store.heldCounts()).toEqual([]);
  });

  it('stays as it was when the store refuses to forget it', async () => {
    const h = await start();
    await ask(h, [KEY]);
    const commitControl = h.store.commitControl.bind(h.store);
    h.store.commitControl = (write) => {
      if (write.control?.directives.length === 0) h.store.refuses = 'store_busy';
      return commitControl(write);
    };
    await h.time.pass(60_000);
    await h.desk.settled();
    expect(h.desk.view(KEY)).toMatchObject({ state: 'active', pending_directive_count: 1 });
    expect(await h.store.controls()).toHaveLength(1);
    expect(await deferredBy(h)).toEqual({ shelving: 1 });
  });

  it('is told to a socket once the store can be asked, which it could not at first, counted as that', async () => {
    const before = await start();
    await expired(before);
    const h = await before.restart();
    const ask = h.store.control.bind(h.store);
    h.store.control = () => Promise.reject(new Error('disk'));
    const pushed: unknown[] = [];
    h.desk.attachListener(KEY, (control) => pushed.push(control));
    const left: unknown[] = [];
    const leave = h.desk.attachListener(KEY, (control) => left.push(control));
    await h.time.pass(3_000);
    expect(pushed).toEqual([]);
    expect(await deferredBy(h)).toEqual({ look: 2 });
    leave();
    h.store.control = ask;
    await h.time.pass(1_000);
    expect(pushed).toEqual([{ state: 'active', directives: [], session_id: 's-1', cursor: 2 }]);
    expect(left).toEqual([]);
    expect(h.time.timerCount).toBe(0);
  });
});

describe('a session that an operator let go on', () => {
  it('has its resume waiting for an agent that is away for hours', async () => {
    const h = await start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    await h.time.pass(12 * 3_600_000);
    expect(h.desk.answerFor(key).directives).toMatchObject([{ type: 'resume' }]);
  });

  it.each([
    ['', 0],
    [', and the session has left memory in between', 2 * 3_600_000],
  ])(
    'is paused by the command that came meanwhile, though a look into the store that began before it ends later%s',
    async (_, idleMs) => {
      const before = await start();
      const key = await before.session();
      const h = await before.restart(BOUNDS);
      h.known.add(key);
      const look = h.store.control.bind(h.store);
      let answer = () => {};
      h.store.control = () => {
        h.store.control = look;
        return new Promise((resolve) => {
          answer = () => resolve(initialControl('default', 's-1'));
        });
      };
      const polled = h.desk.poll(key, { waitMs: 0, isAgent: true });
      h.time.advance(idleMs);
      await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
      answer();
      expect(await polled).toMatchObject({ state: 'paused' });
      expect(h.desk.isHolding(key)).toBe(true);
    },
  );
});

describe('terminated sessions beyond those that memory keeps', () => {
  const states = async (h: DeskHarness, keys: SessionKey[]) => {
    const found: [string, string][] = [];
    for (const key of keys)
      found.push([(await h.step(key, `${key}-later`)).state, h.desk.answerForCall(key).state]);
    return found;
  };
  const THREE_TERMINATED = [1, 2, 3].map(() => ['terminated', 'terminated']);

  it('stay terminated for their agents, also after a start', async () => {
    const h = await start();
    const keys = keysOf('default', 3);
    for (const key of keys) {
      const { sessionId } = splitSessionKey(key);
      await h.session(sessionId);
      await h.desk.execute(operator(), sessionId, 'terminate', { reason: 'wrong customer' });
    }
    expect(await h.metric('observatory_hitl_controls_evicted_total')).toBe(1);
    expect(await states(h, keys)).toEqual(THREE_TERMINATED);
    expect(await states(await h.restart(BOUNDS), keys)).toEqual(THREE_TERMINATED);
  });

  it('are shown as terminated when a socket of their agent comes back', async () => {
    const h = await start();
    const keys = keysOf('default', 3);
    for (const key of keys) {
      const { sessionId } = splitSessionKey(key);
      await h.session(sessionId);
      await h.desk.execute(operator(), sessionId, 'terminate', { reason: 'wrong customer' });
    }
    const shown = h.events.length;
    h.desk.attachListener(keys[0] as SessionKey, () => {});
    await turn();
    expect(h.views.get(keys[0] as SessionKey)).toMatchObject({ state: 'terminated', mode: 'cooperative' });
    expect(h.events.slice(shown)).toMatchObject([{ kind: 'control', control: { state: 'terminated' } }]);
  });

  it('stay so though one leaves memory while an older look into the store is under way', async () => {
    const h = await start();
    const [key] = await Promise.all(['s-1', 's-2', 's-3'].map((id) => h.session(id)));
    const read = h.store.control.bind(h.store);
    let answer = () => {};
    h.store.control = async (...session) => {
      const row = await read(...session);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return row;
    };
    const polled = h.desk.poll(key as SessionKey, { waitMs: 0, isAgent: true });
    await turn();
    h.store.control = read;
    for (const id of ['s-1', 's-2', 's-3'])
      await h.desk.execute(operator(), id, 'terminate', { reason: 'wrong customer' });
    answer();
    expect(await polled).toMatchObject({ state: 'terminated' });
    await expect(h.desk.execute(operator(), 's-1', 'pause', PAUSE)).rejects.toMatchObject({
      code: 'session_terminated',
    });
  });

  it('cost no look into the store while memory has them all, and one for each session afterwards', async () => {
    const h = await start();
    const [first, second, third] = await Promise.all(['s-1', 's-2', 's-3'].map((id) => h.session(id)));
    expect(h.desk.recall(first as SessionKey)).toBeNull();
    for (const id of ['s-1', 's-2', 's-3'])
      await h.desk.execute(operator(), id, 'terminate', { reason: 'wrong customer' });
    expect(h.desk.recall(third as SessionKey)).toBeNull();
    expect(h.desk.recall(second as SessionKey)).toBeNull();
    const newcomer = sessionKey('default', 's-4');
    await h.desk.recall(newcomer);
    expect(h.desk.recall(newcomer)).toBeNull();
  });
});
