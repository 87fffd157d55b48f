import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentControl, Directive } from '#contracts';
import { temporaryFolder } from '#testing/temporary-folder';
import { AgentClientError, ObservatoryAgent } from './lib/observatory-agent.mjs';
import { Replay } from './lib/replay-run.mjs';
import { ReplaySummary } from './lib/replay-summary.mjs';

interface Call {
  method: string;
  path: string;
  body: string;
}

/** A gateway of a few lines: `control` says what every answer carries; `refuse` may answer instead. */
function fakeGateway(
  options: { control?: () => AgentControl; refuse?: (call: Call, at: number) => Response | null } = {},
) {
  const calls: Call[] = [];
  const control = options.control ?? (() => ({ state: 'active', directives: [] }));
  const accept = (text: string) => {
    const { meta } = JSON.parse(text);
    return {
      status: 'accepted',
      trace_id: meta.trace_id,
      session_id: meta.session_id,
      entropy: { score: 1, severity: 'normal', window_size: 1 },
      control: control(),
    };
  };
  vi.stubGlobal(
    'fetch',
    async (
      url: URL,
      { method, body = '', headers }: { method: string; body?: string; headers: Record<string, string> },
    ) => {
      const call = { method, path: url.pathname + url.search, body };
      calls.push(call);
      const refused = options.refuse?.(call, calls.length);
      if (refused) return refused;
      if (call.path.endsWith('/ack')) return Response.json({ status: 'ok' });
      if (call.path.includes('/control?')) {
        const { state, directives } = control();
        const cursor = Math.max(0, ...directives.map(({ seq }) => seq));
        return Response.json({ session_id: 's', state, directives, cursor });
      }
      if (headers['content-type']?.includes('ndjson')) {
        return Response.json({ results: body.split('\n').map(accept) }, { status: 202 });
      }
      return Response.json(accept(body), { status: 202 });
    },
  );
  return calls;
}

const directive = (seq: number, type: Directive['type'], prompt?: string): Directive => ({
  directive_id: `d${seq}`,
  seq,
  type,
  issued_at_ms: 0,
  operator_id: 'ann',
  ...(prompt ? { prompt } : {}),
});
const step = { cognition: { intent: 'find_order' }, action: { status: 'success' as const } };
const open = () => new ObservatoryAgent({ key: 'k', agent_id: 'a', agent_type: 'bot', session_id: 's' });
const posts = (calls: Call[]) =>
  calls.filter(({ path }) => path === '/v1/decision-logs').map(({ body }) => JSON.parse(body));

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the agent client', () => {
  it('fills in who and where, chains its steps, and says once that it obeys', async () => {
    const calls = fakeGateway();
    const agent = open();
    await agent.step(step);
    await agent.step(step);
    const [first, second] = posts(calls);
    expect(first).toMatchObject({
      meta: { session_id: 's', parent_step_id: null },
      identity: { agent_id: 'a' },
    });
    expect(second.meta.parent_step_id).toBe(first.meta.trace_id);
    expect(calls.filter(({ path }) => path.includes('/control?'))).toEqual([
      { method: 'GET', path: '/v1/sessions/s/control?wait_s=0&after=0', body: '' },
    ]);
  });

  it('hands each directive on once, however often it is delivered', async () => {
    fakeGateway({ control: () => ({ state: 'active', directives: [directive(1, 'inject', 'look again')] }) });
    const agent = open();
    const heard: string[] = [];
    agent.onDirective(({ prompt }) => heard.push(prompt ?? ''));
    for (let at = 0; at < 3; at++) await agent.step(step);
    expect(heard).toEqual(['look again']);
  });

  it('confirms a pause and waits until it is over', async () => {
    const states: AgentControl[] = [
      { state: 'paused', directives: [directive(1, 'pause')] },
      { state: 'paused', directives: [directive(1, 'pause')] },
      { state: 'paused', directives: [directive(2, 'inject', 'hint')] },
      { state: 'active', directives: [directive(3, 'resume')] },
    ];
    const calls = fakeGateway({ control: () => states.shift() ?? { state: 'active', directives: [] } });
    const agent = open();
    const heard: string[] = [];
    agent.onDirective(({ type }) => heard.push(type));
    await agent.step(step);
    expect(agent.state).toBe('paused');
    expect(await agent.waitWhilePaused()).toBe('active');
    expect(heard).toEqual(['pause', 'inject', 'resume']);
    expect(calls.filter(({ path }) => path.endsWith('/ack')).map(({ body }) => body)).toEqual([
      '{"seq":1}',
      '{"seq":2}',
    ]);
    expect(calls.at(-1)?.path).toBe('/v1/sessions/s/control?wait_s=55&after=2');
  });

  it('says that a session is over', async () => {
    fakeGateway({ control: () => ({ state: 'terminated', directives: [directive(1, 'terminate')] }) });
    const agent = open();
    await agent.step(step);
    expect([agent.isTerminated, await agent.waitWhilePaused()]).toEqual([true, 'terminated']);
  });

  it('sends the very same step again after 503 and a broken connection', async () => {
    const calls = fakeGateway({
      refuse: (_, at) => {
        if (at === 1)
          return Response.json(
            { status: 'error', reason: 'store_busy' },
            { status: 503, headers: { 'retry-after': '0' } },
          );
        if (at === 2) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
        return null;
      },
    });
    expect(await open().step(step)).toMatchObject({ status: 'accepted' });
    const sent = posts(calls);
    expect(sent).toHaveLength(3);
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[2]).toEqual(sent[0]);
  });

  it('gives up at once on what sending again does not mend', async () => {
    const calls = fakeGateway({
      refuse: () =>
        Response.json({ status: 'error', reason: 'unauthorized', detail: 'bad key' }, { status: 401 }),
    });
    await expect(open().step(step)).rejects.toThrow(AgentClientError);
    expect(calls).toHaveLength(1);
  });
});

describe('a replay', () => {
  const trace = (id: string, stepCount: number) => ({
    trace_id: id,
    source: 'src',
    task_group: 'SECRET-GROUP',
    label: { looping: true, kind: 'human', evidence: 'SECRET', outcome: 'SECRET', onset_step: 'SECRET' },
    steps: Array.from({ length: stepCount }, (_, i) => ({
      i,
      actor: 'agent',
      intent: '',
      intent_class: `c${i}`,
      tool_call: null,
      status: 'ok',
    })),
  });

  async function replay(lines: string[], over: object = {}) {
    const file = join(temporaryFolder(), 'traces.jsonl');
    writeFileSync(file, lines.join('\n'));
    const summary = new ReplaySummary();
    const notes: string[] = [];
    const options = {
      file,
      url: 'http://127.0.0.1:1',
      key: 'k',
      concurrency: 2,
      speed: null,
      limit: Number.POSITIVE_INFINITY,
      batch: false,
      ignoreControl: false,
      intent: 'class' as const,
      run: '',
      ...over,
    };
    const signal = new AbortController().signal;
    await new Replay(options, summary, { signal, onNote: (text) => notes.push(text) }).run();
    return { summary, notes };
  }

  it.each([false, true])(
    'puts nothing of a label on the wire, names bad lines and goes on (batch: %s)',
    async (batch) => {
      const calls = fakeGateway();
      const lines = [trace('one', 3), trace('two', 4)].map((each) => JSON.stringify(each));
      const { summary, notes } = await replay(
        [lines[0] ?? '', 'nonsense', '{"trace_id":"x"}', lines[1] ?? ''],
        { batch },
      );
      expect(JSON.stringify(calls)).not.toContain('SECRET');
      expect(JSON.stringify(calls)).not.toMatch(/label|looping|outcome|stagnated/);
      expect(summary).toMatchObject({ acceptedCount: 7, badLineCount: 2, all: { sessions: 2, alerted: 0 } });
      expect(notes).toEqual([
        expect.stringContaining('line 2: not valid JSON'),
        'line 3: steps is missing or empty; skipped',
      ]);
    },
  );

  it('posts the steps of a trace in their order, and stops at the limit', async () => {
    const calls = fakeGateway();
    await replay(
      [trace('one', 5), trace('two', 5), trace('three', 5)].map((each) => JSON.stringify(each)),
      { limit: 2 },
    );
    const sent = posts(calls);
    const ofSession = (id: string) =>
      sent.filter(({ meta }) => meta.session_id === id).map(({ meta }) => meta.trace_id);
    expect(ofSession('one')).toEqual(['one#0', 'one#1', 'one#2', 'one#3', 'one#4']);
    expect(ofSession('two')).toHaveLength(5);
    expect(ofSession('three')).toHaveLength(0);
  });

  it('ends a trace whose session an operator terminated, unless told to ignore control', async () => {
    const terminated = () => ({ state: 'terminated' as const, directives: [] });
    const lines = [JSON.stringify(trace('one', 5))];
    fakeGateway({ control: terminated });
    expect((await replay(lines)).summary).toMatchObject({ acceptedCount: 1, terminatedCount: 1 });
    fakeGateway({ control: terminated });
    expect((await replay(lines, { ignoreControl: true })).summary).toMatchObject({
      acceptedCount: 5,
      terminatedCount: 0,
    });
  });

  it('lets a paused session wait without holding up the others', async () => {
    let polls = 0;
    const calls = fakeGateway({
      control: () => ({ state: 'active', directives: [] }),
      refuse: ({ path, body }) => {
        const isOne = path.includes('/one/') || body.includes('"session_id":"one"');
        if (!isOne || path.endsWith('/ack')) return null;
        const isPoll = path.includes('wait_s=55');
        if (isPoll) polls++;
        const state = polls >= 2 ? 'active' : 'paused';
        if (path.includes('/control?'))
          return Response.json({ session_id: 'one', state, directives: [], cursor: 0 });
        const entropy = { score: 1, severity: 'normal', window_size: 1 };
        return Response.json(
          { status: 'accepted', entropy, control: { state, directives: [] } },
          { status: 202 },
        );
      },
    });
    const lines = [trace('one', 3), trace('two', 3)].map((each) => JSON.stringify(each));
    const { summary, notes } = await replay(lines, { concurrency: 1 });
    expect(summary.acceptedCount).toBe(6);
    const order = posts(calls).map(({ meta }) => meta.trace_id);
    expect(order.indexOf('two#0')).toBeLessThan(order.indexOf('one#1'));
    expect(notes).toEqual(['one is paused by an operator: waiting for its resume', 'one goes on']);
  });
});
