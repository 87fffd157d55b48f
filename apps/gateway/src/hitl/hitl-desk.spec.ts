import { describe, expect, it } from 'vitest';
import { type Command, LIMITS, ObservatoryError, type SessionKey, sessionKey } from '#contracts';
import { ASKERS_PER_SESSION_MAX } from '#domain/hitl';
import { DeskHarness, operator, TENANT } from './desk.fixture.js';

const PAUSE = { reason: 'let me look' };

describe('commands', () => {
  it('pauses, holds what comes, and flushes it in order on resume', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    expect(await h.desk.execute(operator(), 's-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
    for (const traceId of ['t-1', 't-2', 't-3']) {
      expect(await h.step(key, traceId)).toMatchObject({ state: 'paused' });
    }
    expect(h.published).toEqual(['s-1-first']);
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', operator_id: 'ada', held_count: 3 });

    expect(await h.desk.execute(operator('bob'), 's-1', 'resume', undefined)).toEqual({
      status: 'ok',
      flushed_count: 3,
    });
    await h.step(key, 't-4');
    expect(h.published).toEqual(['s-1-first', 't-1', 't-2', 't-3', 't-4']);
    expect(h.desk.view(key)).toMatchObject({ state: 'active', operator_id: 'bob', held_count: 0 });
    expect(h.audited()).toEqual([
      'ada pause active>pause_requested ok',
      'bob resume pause_requested>active ok',
    ]);
  });

  it('lets one of two operators who pause at once win, and tells the other', async () => {
    const h = await DeskHarness.start();
    await h.session();
    const answers = await Promise.all([
      h.desk.execute(operator('ada'), 's-1', 'pause', PAUSE),
      h.desk.execute(operator('bob'), 's-1', 'pause', PAUSE),
    ]);
    expect(answers).toEqual([{ status: 'ok' }, { status: 'ok', note: 'already_paused' }]);
    expect(h.audited()).toEqual([
      'ada pause active>pause_requested ok',
      'bob pause pause_requested>pause_requested already_paused',
    ]);
    expect(h.store.rows.get(sessionKey(TENANT, 's-1'))).toMatchObject({
      operator_id: 'ada',
      directive_seq: 1,
    });
  });

  it('answers not_paused with nothing flushed to a resume of an active session', async () => {
    const h = await DeskHarness.start();
    await h.session();
    expect(await h.desk.execute(operator(), 's-1', 'resume', {})).toEqual({
      status: 'ok',
      note: 'not_paused',
      flushed_count: 0,
    });
  });

  it('keeps termination final, releases what was held, and audits what is refused', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.step(key, 't-1');
    expect(await h.desk.execute(operator(), 's-1', 'terminate', { reason: 'enough' })).toEqual({
      status: 'ok',
    });
    expect(h.published).toEqual(['s-1-first', 't-1']);
    await expect(h.desk.execute(operator(), 's-1', 'resume', {})).rejects.toMatchObject({
      code: 'session_terminated',
      status: 409,
    });
    expect(await h.desk.execute(operator(), 's-1', 'terminate', { reason: 'again' })).toEqual({
      status: 'ok',
      note: 'already_terminated',
    });
    expect(await h.step(key, 't-2')).toMatchObject({ state: 'terminated' });
    expect(h.audited().slice(1)).toEqual([
      'ada terminate pause_requested>terminated ok',
      'ada resume terminated>terminated session_terminated',
      'ada terminate terminated>terminated already_terminated',
    ]);
    expect(h.views.get(key)).toMatchObject({ state: 'terminated' });
  });

  it('pauses a session that has no step, because its agent reports under another, once the proxy has seen a call of it', async () => {
    const h = await DeskHarness.start();
    const call = sessionKey(TENANT, 'llm-1');
    h.desk.noteProxied(call);
    expect(await h.desk.execute(operator(), 'llm-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
    expect(h.desk.answerFor(call).state).toBe('paused');
  });

  it('knows a session that was commanded before, though retention took its steps', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    h.known.delete(key);
    expect(await h.desk.execute(operator(), 's-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
  });

  it('answers 404 for a session this tenant never had, and audits nothing', async () => {
    const h = await DeskHarness.start();
    await h.session('s-1', 'acme');
    await expect(h.desk.execute(operator(), 's-1', 'pause', PAUSE)).rejects.toMatchObject({
      code: 'session_not_found',
    });
    expect(h.store.audit).toEqual([]);
  });

  it('names the fields of a command that are missing, and audits the attempt', async () => {
    const h = await DeskHarness.start();
    await h.session();
    await expect(h.desk.execute(operator(), 's-1', 'rewrite', {})).rejects.toMatchObject({
      code: 'invalid_fields',
      status: 422,
      extra: { fields: ['trace_id', 'new_content'] },
    });
    expect(h.audited()).toEqual(['ada rewrite active>active invalid_fields']);
  });

  it('rewrites a held message and publishes it so', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.step(key, 't-1');
    const new_content = { path: '/tmp/x' };
    expect(await h.desk.execute(operator('bob'), 's-1', 'rewrite', { trace_id: 't-1', new_content })).toEqual(
      { status: 'ok' },
    );
    expect(h.events.find((event) => event.kind === 'rewritten')).toMatchObject({
      step: {
        action: { tool_input: new_content },
        control: { interrupt_signal: 'rewrite' },
        gateway: { rewritten_by: 'bob', held: true },
      },
    });
    expect(h.desk.answerFor(key).directives.at(-1)).toMatchObject({
      type: 'rewrite',
      trace_id: 't-1',
      new_content,
    });
    await expect(
      h.desk.execute(operator(), 's-1', 'rewrite', { trace_id: 'unknown', new_content }),
    ).rejects.toMatchObject({ code: 'held_message_not_found', status: 404 });
  });

  it('changes nothing and tells nobody when the store refuses', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const eventCount = h.events.length;
    h.store.refuses = 'store_busy';
    await expect(h.desk.execute(operator(), 's-1', 'pause', PAUSE)).rejects.toMatchObject({ status: 503 });
    expect(h.desk.isHolding(key)).toBe(false);
    expect(h.desk.view(key)).toMatchObject({ state: 'active', pending_directive_count: 0 });
    expect(h.events.length).toBe(eventCount);
    h.store.refuses = null;
    expect(await h.desk.execute(operator(), 's-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
  });

  it('refuses an injection when the directives are full, and the agent can still be stopped', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    for (let count = 1; count < LIMITS.directivesPerSessionMax; count += 1) {
      await h.desk.execute(operator(), 's-1', 'inject', { prompt: `${count}` });
    }
    await expect(h.desk.execute(operator(), 's-1', 'inject', { prompt: 'one more' })).rejects.toMatchObject({
      code: 'too_many_directives',
    });
    expect(await h.desk.execute(operator(), 's-1', 'pause', PAUSE)).toEqual({ status: 'ok' });
    expect(h.desk.answerFor(key).directives.length).toBe(LIMITS.directivesPerSessionMax);
  });

  it('publishes the control and the audit entry of each command on the topic of its session', async () => {
    const h = await DeskHarness.start();
    await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(h.events).toMatchObject([
      { kind: 'audit', entry: { action: 'pause', detail: PAUSE, role: 'operator' } },
      { kind: 'control', control: { state: 'pause_requested' }, directives: [{ type: 'pause', seq: 1 }] },
    ]);
  });

  it('writes neither prompts nor reasons to the log', async () => {
    const h = await DeskHarness.start();
    await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', { reason: 'secret-reason' });
    await h.desk.execute(operator(), 's-1', 'inject', { prompt: 'secret-prompt' });
    expect(h.logged.length).toBe(2);
    expect(h.logged.join()).not.toContain('secret');
  });

  it('counts commands by outcome and paused sessions', async () => {
    const h = await DeskHarness.start();
    await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(await h.metric('observatory_hitl_sessions_paused')).toBe(1);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    expect(await h.metric('observatory_hitl_sessions_paused')).toBe(0);
    expect(await h.metric('observatory_hitl_commands_total')).toBe(2);
  });

  it('counts each command once by the code that refuses it, a store without room among them', async () => {
    const h = await DeskHarness.start();
    await h.session();
    const refused: string[] = [];
    const order = (sessionId: string, body: object) =>
      h.desk
        .execute(operator(), sessionId, 'inject', body)
        .catch(({ code }: ObservatoryError) => void refused.push(code));
    await order('s-1', {});
    await order('nobody', { prompt: 'Go on.' });
    h.store.refuses = 'store_busy';
    await order('s-1', { prompt: 'Go on.' });
    await order('s-1', {});
    expect(refused).toEqual(['invalid_fields', 'session_not_found', 'store_busy', 'store_busy']);
    const counted = await h.metrics.getSingleMetric('observatory_hitl_commands_total')?.get();
    expect(counted?.values).toMatchObject([
      { labels: { command: 'inject', outcome: 'invalid_fields' }, value: 1 },
      { labels: { command: 'inject', outcome: 'session_not_found' }, value: 1 },
      { labels: { command: 'inject', outcome: 'store_busy' }, value: 2 },
    ]);
  });
});

describe('pauseBySystem', () => {
  it('pauses a session nobody has seen, so that its first message can be held', async () => {
    const h = await DeskHarness.start();
    const key = sessionKey(TENANT, 's-new');
    await h.desk.pauseBySystem(key, 'hitl_required');
    expect(await h.step(key, 't-1')).toMatchObject({ state: 'paused', directives: [{ type: 'pause' }] });
    expect(h.published).toEqual([]);
    expect(h.audited()).toEqual(['system pause active>pause_requested ok']);
    expect(await h.desk.execute(operator(), 's-new', 'resume', {})).toEqual({
      status: 'ok',
      flushed_count: 1,
    });
  });

  it('writes nothing more while the session is paused, and leaves a terminated one alone', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    expect(await h.desk.pauseBySystem(key, 'hitl_required')).toBe(true);
    const { writeCount } = h.store;
    expect(await h.desk.pauseBySystem(key, 'hitl_required')).toBe(true);
    expect(h.store.writeCount).toBe(writeCount);
    await h.desk.execute(operator(), 's-1', 'terminate', { reason: 'enough' });
    expect(await h.desk.pauseBySystem(key, 'hitl_required')).toBe(false);
    expect(h.desk.isHolding(key)).toBe(false);
  });

  it('pauses again behind a resume that is under way', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.pauseBySystem(key, 'hitl_required');
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await h.desk.pauseBySystem(key, 'hitl_required');
    await resumed;
    expect(h.desk.view(key).state).toBe('pause_requested');
  });
});

describe('two at once in a session that holds a message', () => {
  const rewrite = { trace_id: 't-1', new_content: { path: '/tmp/x' } };
  const holding = async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.step(key, 't-1');
    const isRewritten = () =>
      h.store.steps.find(({ trace_id }) => trace_id === 't-1')?.rewritten_by === 'bob';
    return { h, key, isRewritten };
  };
  const isDone = (settled: PromiseSettledResult<unknown>[]) =>
    settled.map((one) => (one.status === 'fulfilled' ? 'ok' : one.reason.code));

  it.each([
    ['resume', {}, 'held_message_not_found'],
    ['terminate', { reason: 'enough' }, 'session_terminated'],
  ] as const)(
    'a rewrite behind a %s changes nothing that went out, and is told so',
    async (name, body, code) => {
      const { h, isRewritten } = await holding();
      const settled = await Promise.allSettled([
        h.desk.execute(operator('ada'), 's-1', name, body),
        h.desk.execute(operator('bob'), 's-1', 'rewrite', rewrite),
      ]);
      expect([isDone(settled), isRewritten()]).toEqual([['ok', code], false]);
      expect(h.published).toEqual(['s-1-first', 't-1']);
    },
  );

  it.each([
    ['resume', {}],
    ['terminate', { reason: 'enough' }],
  ] as const)('a rewrite ahead of a %s goes out with it', async (name, body) => {
    const { h, isRewritten } = await holding();
    const settled = await Promise.allSettled([
      h.desk.execute(operator('bob'), 's-1', 'rewrite', rewrite),
      h.desk.execute(operator('ada'), 's-1', name, body),
    ]);
    expect([isDone(settled), isRewritten()]).toEqual([['ok', 'ok'], true]);
    expect(h.published).toEqual(['s-1-first', 't-1']);
  });

  const COMMANDS: [Command, unknown][] = [
    ['pause', PAUSE],
    ['resume', {}],
    ['inject', { prompt: 'Use staging.' }],
    ['rewrite', rewrite],
    ['terminate', { reason: 'enough' }],
  ];
  const PAIRS = COMMANDS.flatMap((one) =>
    COMMANDS.filter((other) => other !== one).map((other) => [one, other]),
  );
  type Given = [Command, unknown];
  const settledBy = (h: DeskHarness, operatorId: string, [name, body]: Given) =>
    h.desk.execute(operator(operatorId), 's-1', name, body).catch((error) => error.code as string);
  /** All that anybody could tell apart. */
  const left = async ({ h, key, isRewritten }: Awaited<ReturnType<typeof holding>>) => {
    await h.desk.settled();
    const told = h.desk.answerFor(key).directives.map(({ type, operator_id }) => [type, operator_id]);
    const control = h.desk.view(key);
    expect(h.views.get(key)).toEqual(control);
    return { control, told, audit: h.audited(), published: h.published, isRewritten: isRewritten() };
  };

  it.each(PAIRS)('%j and %j come to what they come to one after the other', async (first, second) => {
    const together = await holding();
    const answers = await Promise.all([
      settledBy(together.h, 'ada', first as Given),
      settledBy(together.h, 'bob', second as Given),
    ]);
    const apart = await holding();
    const expected = [
      await settledBy(apart.h, 'ada', first as Given),
      await settledBy(apart.h, 'bob', second as Given),
    ];
    expect(answers).toEqual(expected);
    expect(await left(together)).toEqual(await left(apart));
  });

  it.each(PAIRS)('%j that the store refuses leaves %j as if it had never come', async (first, second) => {
    const together = await holding();
    const commitControl = together.h.store.commitControl.bind(together.h.store);
    together.h.store.commitControl = () => {
      together.h.store.commitControl = commitControl;
      return Promise.reject(new ObservatoryError('store_busy'));
    };
    const answers = await Promise.all([
      settledBy(together.h, 'ada', first as Given),
      settledBy(together.h, 'bob', second as Given),
    ]);
    const alone = await holding();
    expect(answers).toEqual(['store_busy', await settledBy(alone.h, 'bob', second as Given)]);
    expect(await left(together)).toEqual(await left(alone));
  });

  it('a person asked for behind a resume is waited for, and behind a termination is not', async () => {
    const resumed = await holding();
    await Promise.all([
      resumed.h.desk.execute(operator(), 's-1', 'resume', {}),
      resumed.h.desk.askForPerson(resumed.key, 'clerk'),
    ]);
    expect(resumed.h.desk.view(resumed.key)).toMatchObject({ state: 'pause_requested', asked_by: ['clerk'] });
    const ended = await holding();
    await Promise.all([
      ended.h.desk.execute(operator(), 's-1', 'terminate', { reason: 'enough' }),
      ended.h.desk.askForPerson(ended.key, 'clerk'),
    ]);
    expect(ended.h.desk.view(ended.key)).toMatchObject({ state: 'terminated', asked_by: [] });
  });
});

describe('askForPerson', () => {
  const asked = (h: DeskHarness, key: SessionKey) => h.desk.view(key).asked_by;

  it('pauses, and names the agent that asked in the same write', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    const { writeCount } = h.store;
    await h.desk.askForPerson(key, 'clerk');
    expect(h.store.writeCount).toBe(writeCount + 1);
    expect(h.desk.view(key)).toMatchObject({
      state: 'pause_requested',
      operator_id: 'system',
      reason: 'hitl_required',
      asked_by: ['clerk'],
    });
    expect(h.audited()).toEqual(['system pause active>pause_requested ok']);
  });

  it('leaves the pause of an operator theirs, and says who asks in it, each once, also after a restart', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    for (const agentId of ['clerk', 'planner', 'clerk']) await h.desk.askForPerson(key, agentId);
    expect(h.views.get(key)).toMatchObject({ operator_id: 'ada', asked_by: ['clerk', 'planner'] });
    const { writeCount } = h.store;
    await h.desk.askForPerson(key, 'clerk');
    expect(h.store.writeCount).toBe(writeCount);
    expect(asked(await h.restart(), key)).toEqual(['clerk', 'planner']);
  });

  it.each([
    ['somebody resumes', (h: DeskHarness) => h.desk.execute(operator(), 's-1', 'resume', {})],
    ['somebody terminates', (h: DeskHarness) => h.desk.execute(operator(), 's-1', 'terminate', PAUSE)],
    ['nobody came in time', (h: DeskHarness) => h.time.pass(60_000)],
  ])('is over when %s', async (_, end) => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.askForPerson(key, 'clerk');
    await end(h);
    expect(asked(h, key)).toEqual([]);
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE).catch(() => {});
    expect(asked(h, key)).toEqual([]);
  });

  it('knows so many agents of a session, and counts those it has no place for', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    for (let n = 0; n <= ASKERS_PER_SESSION_MAX; n += 1) await h.desk.askForPerson(key, `agent-${n}`);
    expect(asked(h, key)).toHaveLength(ASKERS_PER_SESSION_MAX);
    expect(await h.metric('observatory_hitl_askers_without_place_total')).toBe(1);
  });
});

describe('expiry', () => {
  it('expires an abandoned pause, resumes by policy, and audits both as system', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.step(key, 't-1');
    await h.time.pass(59_999);
    expect(h.desk.view(key).state).toBe('pause_requested');
    await h.time.pass(1);
    await h.desk.settled();
    expect(h.desk.view(key)).toMatchObject({ state: 'active', operator_id: 'system' });
    expect(h.published).toEqual(['s-1-first', 't-1']);
    expect(h.desk.isHolding(key)).toBe(false);
    expect(h.audited().slice(1)).toEqual([
      'system hitl.expire pause_requested>expired ok',
      'system resume expired>active ok',
    ]);
    expect(await h.metric('observatory_hitl_expired_total')).toBe(1);
    expect(h.logged.filter((line) => line.includes('pause expired'))).toHaveLength(1);
  });

  it('terminates when the policy says so', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.config.hitl_expiry_action = 'terminate';
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.time.pass(60_000);
    await h.desk.settled();
    expect(h.desk.view(key)).toMatchObject({ state: 'terminated', operator_id: 'system' });
  });

  it('never expires when the time to live is 0, and falls back to the default when it is unusable', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    h.config.hitl_pause_ttl_ms = 0;
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(h.desk.view(key).expires_at_ms).toBeNull();
    await h.session('s-2');
    h.config.hitl_pause_ttl_ms = 'half an hour';
    await h.desk.execute(operator(), 's-2', 'pause', PAUSE);
    expect(h.desk.view(sessionKey(TENANT, 's-2')).expires_at_ms).toBe(h.time.nowMs() + 30 * 60_000);
    expect(h.logged.join()).toContain('hitl_pause_ttl_ms');
  });

  it('keeps one timer for all pauses and fires for the earliest first', async () => {
    const h = await DeskHarness.start();
    const late = await h.session('s-late');
    const early = await h.session('s-early');
    await h.desk.execute(operator(), 's-late', 'pause', PAUSE);
    h.config.hitl_pause_ttl_ms = 1_000;
    await h.desk.execute(operator(), 's-early', 'pause', PAUSE);
    expect(h.time.timerCount).toBe(1);
    await h.time.pass(1_000);
    await h.desk.settled();
    expect(h.desk.view(early).state).toBe('active');
    expect(h.desk.view(late).state).toBe('pause_requested');
    await h.time.pass(59_000);
    await h.desk.settled();
    expect(h.desk.view(late).state).toBe('active');
    expect(h.time.timerCount).toBe(0);
  });

  it.each([
    ['back by a day', -86_400_000],
    ['forward by a day', 86_400_000],
  ])('goes by no wall clock that is set %s meanwhile', async (_, byMs) => {
    const h = await DeskHarness.start();
    const early = await h.session('s-early');
    const late = await h.session('s-late');
    await h.desk.execute(operator(), 's-early', 'pause', PAUSE);
    await h.time.pass(30_000);
    await h.desk.execute(operator(), 's-late', 'pause', PAUSE);
    h.time.setWallClock(byMs);
    await h.time.pass(30_000);
    await h.desk.settled();
    expect(h.desk.view(early).state).toBe('active');
    expect(h.desk.view(late).state).toBe('pause_requested');
    await h.time.pass(30_000);
    await h.desk.settled();
    expect(h.desk.view(late).state).toBe('active');
  });

  it('survives a restart, and makes up for what fell due in between', async () => {
    const before = await DeskHarness.start();
    const key = await before.session();
    await before.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await before.step(key, 't-1');
    await before.desk.drain();
    await before.time.pass(61_000);
    const h = await before.restart();
    expect(h.desk.isHolding(key)).toBe(true);
    await h.time.pass(0);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
    expect(h.published).toEqual(['t-1']);
  });

  it('lasts no longer than it was to where the clock was ahead, and is set back before a restart', async () => {
    const before = await DeskHarness.start();
    const key = await before.session();
    before.time.setWallClock(40 * 86_400_000);
    await before.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await before.desk.drain();
    before.time.setWallClock(-40 * 86_400_000);
    const h = await before.restart();
    await h.time.pass(59_999);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('pause_requested');
    await h.time.pass(1);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
  });

  it('lasts as long as any where the clock was set back, and its end reads as that of an earlier one did', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    await h.time.pass(60_000);
    await h.desk.settled();
    h.time.setWallClock(-60_000);
    await h.desk.execute(operator(), 's-1', 'pause', { reason: 'look again' });
    await h.time.pass(59_999);
    expect(h.desk.view(key).state).toBe('pause_requested');
    await h.time.pass(1);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
  });

  it('finishes an expiry whose policy had not run when the process died', async () => {
    const before = await DeskHarness.start();
    const key = await before.session();
    await before.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await before.desk.drain();
    const row = before.store.rows.get(key);
    if (row) row.state = 'expired';
    const h = await before.restart();
    await h.time.pass(60_000);
    await h.desk.settled();
    expect(h.audited().at(-1)).toBe('system resume expired>active ok');
  });

  it('does not wait for the clock where a pause has expired and only its policy has not run', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const commitControl = h.store.commitControl.bind(h.store);
    h.store.commitControl = (write) => {
      if (write.control?.state === 'active') h.store.refuses = 'store_busy';
      return commitControl(write);
    };
    await h.time.pass(60_000);
    expect(h.desk.view(key).state).toBe('expired');
    h.store.commitControl = commitControl;
    h.store.refuses = null;
    h.time.setWallClock(-3_600_000);
    await h.time.pass(5_000);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
  });

  it('tries again when the store refuses', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    h.store.refuses = 'store_busy';
    await h.time.pass(60_000);
    expect(h.desk.view(key).state).toBe('pause_requested');
    h.store.refuses = null;
    await h.time.pass(5_000);
    await h.desk.settled();
    expect(h.desk.view(key).state).toBe('active');
  });
});
