import { describe, expect, test } from 'vitest';
import type { CallCache, Incident } from '#contracts';
import { DEFAULT_KILL_SWITCH, KillSwitchWindows } from '#domain/kill-switch';
import { dialectFor } from '#domain/llm-dialects';
import { deferred } from '#kernel';
import { buildLlmAnswer, FakeClock } from '#testing';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { killSwitchStep } from './kill-switch.step.js';

const EXACT: CallCache = { match: 'exact', age_s: 1, cosine: null, saved_usd: null };

/** @param kept when the store has the evidence of a stop, or has refused it */
function setUp(kept: Promise<unknown> = Promise.resolve()) {
  const incidents: Incident[] = [];
  let serial = 0;
  const step = killSwitchStep({
    agents: { killSwitch: () => DEFAULT_KILL_SWITCH },
    windows: new KillSwitchWindows({ clock: new FakeClock() }),
    incidents: {
      open: (_tenantId, incident) => {
        incidents.push(incident);
        return kept;
      },
    },
    ids: { next: () => String(serial++) },
    killResponse: 'message',
  });
  /** One question asked and answered with the same words each time. @returns what was decided */
  const ask = async (
    of: { cache: CallCache | null; isSessionInferred: boolean },
    messages = QUESTION,
    ending: Partial<ProxyCall> = { isAnswered: true },
    beginning: Partial<ProxyCall> = {},
  ): Promise<string> => {
    const call = Object.assign(
      buildProxyCall({ id: `call-${serial++}`, body: { model: 'm', messages } }),
      beginning,
    );
    call.isSessionInferred = of.isSessionInferred;
    const verdict = await step.run?.(call);
    if (verdict !== undefined) return verdict.decision;
    Object.assign(call, { cache: of.cache, answer: ANSWER, ...ending });
    step.settle?.(call);
    return of.cache === null ? 'forwarded' : 'cached';
  };
  return { step, ask, incidents };
}

const ANSWER = buildLlmAnswer({ text: 'On Saturday from nine to five.' });
const NO_ANSWER = buildLlmAnswer({ text: '' });

type BuildOptions = Parameters<typeof buildProxyCall>[0];

const QUESTION: object[] = [{ role: 'user', content: 'When are you open on Saturday, please?' }];

const repeated = (count: number, one: string): string[] => Array(count).fill(one);

/** One after another: requests that overlap count as one. */
async function inTurn<T>(count: number, one: (n: number) => T): Promise<Awaited<T>[]> {
  const all: Awaited<T>[] = [];
  for (let n = 0; n < count; n += 1) all.push(await one(n));
  return all;
}

test.each<[string, BuildOptions]>([
  [
    "OpenAI's",
    {
      path: '/responses',
      body: { model: 'm', input: 'Hi', prompt_cache_options: { prewarm: true } },
    },
  ],
  [
    "Anthropic's",
    {
      dialect: dialectFor('anthropic', 'POST', '/v1/messages'),
      body: { model: 'm', max_tokens: 0, messages: [{ role: 'user', content: 'Hi' }] },
    },
  ],
])('a request that only warms up the vendor’s prompt cache is no repetition: %s', (_, options) => {
  const { step, incidents } = setUp();
  for (let serial = 0; serial < 30; serial += 1) {
    const call = buildProxyCall({ id: `call-${serial}`, ...options });
    expect(step.run?.(call)).toBeUndefined();
    step.settle?.(Object.assign(call, { isAnswered: true, answer: NO_ANSWER }));
  }
  expect(incidents).toEqual([]);
});

test('a request to warm up the prompt cache that is answered all the same is one', async () => {
  const { step, incidents } = setUp();
  const verdicts = await inTurn(7, async (serial) => {
    const body = { model: 'm', input: 'Hi', prompt_cache_options: { prewarm: true } };
    const call = buildProxyCall({ id: `call-${serial}`, path: '/responses', body });
    const verdict = await step.run?.(call);
    step.settle?.(Object.assign(call, { isAnswered: true, answer: ANSWER }));
    return verdict;
  });
  expect(verdicts.at(-1)).toMatchObject({ decision: 'killed' });
  expect(incidents).not.toEqual([]);
});

describe('a replay from the cache', () => {
  test('is no repetition in a session that nobody named: it may be another user with the same first question', async () => {
    const { ask, incidents } = setUp();
    const first = await ask({ cache: null, isSessionInferred: true });
    const others = await inTurn(30, () => ask({ cache: EXACT, isSessionInferred: true }));
    expect([first, ...others]).toEqual(['forwarded', ...repeated(30, 'cached')]);
    expect(incidents).toEqual([]);
  });

  test('is one in a session that was named: its agent goes round in circles, whoever answers', async () => {
    const { ask, incidents } = setUp();
    const first = await ask({ cache: null, isSessionInferred: false });
    const others = await inTurn(5, () => ask({ cache: EXACT, isSessionInferred: false }));
    expect([first, ...others]).toEqual(['forwarded', ...repeated(4, 'cached'), 'killed']);
    expect(incidents).toHaveLength(1);
  });

  test('leaves what the model itself repeats counted, in a session that nobody named too', async () => {
    const { ask } = setUp();
    const said: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      said.push(await ask({ cache: null, isSessionInferred: true }));
      said.push(await ask({ cache: EXACT, isSessionInferred: true }));
    }
    expect(said).toEqual(Array(5).fill(['forwarded', 'cached']).flat().with(-1, 'killed'));
  });
});

test('its incident says who was stopped, where, and by what measure', async () => {
  const { ask, incidents } = setUp();
  await inTurn(6, () => ask({ cache: null, isSessionInferred: false }));
  const { agentId, sessionId, upstream, startedAtMs } = buildProxyCall({ body: { model: 'm' } });
  const { threshold, window_size } = DEFAULT_KILL_SWITCH;
  expect(incidents).toEqual([
    {
      incident_id: expect.stringMatching(/^inc_\d+$/),
      seq: 0,
      agent_id: agentId,
      session_id: sessionId,
      upstream: upstream.name,
      model: 'm',
      at_ms: startedAtMs,
      breakdown: expect.objectContaining({ score: expect.any(Number) }),
      threshold,
      window_size,
      evidence: Array(6).fill(expect.objectContaining({ call_id: expect.any(String) })),
      reactivated_by: null,
      reactivated_at_ms: null,
    },
  ]);
  expect(incidents[0]?.breakdown.score).toBeGreaterThan(threshold);
});

test('a question that is asked again because its answer broke off is no repetition', async () => {
  const { ask, incidents } = setUp();
  const named = { cache: null, isSessionInferred: false };
  const broken = { decision: 'upstream_failed', isAnswered: false } as const;
  const said = await inTurn(20, () => ask(named, QUESTION, broken));
  expect(said).toEqual(repeated(20, 'forwarded'));
  expect(incidents).toEqual([]);
});

describe('a request that ends in words of the model', () => {
  const LONG = 'Here is the whole answer, in the order in which it was asked for: '.repeat(8);
  const model = (content: string) => ({ role: 'assistant', content });
  const user = (content: string) => ({ role: 'user', content });
  const NAMED = { cache: null, isSessionInferred: false };
  /** What was decided of twenty requests. */
  const run = (messages: (n: number) => object[]): Promise<string[]> => {
    const { ask } = setUp();
    return inTurn(20, (n) => ask(NAMED, messages(n)));
  };

  test.each<[string, object[]]>([
    ['one long text', [...QUESTION, model(LONG)]],
    ['two', [...QUESTION, model(LONG), model('{')]],
    ['one behind earlier turns', [user('Hello?'), model('Yes?'), ...QUESTION, model(LONG)]],
    ['a call', [...QUESTION, { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'look' } }] }]],
  ])('is a repetition where it is the same to the letter: %s', async (_, messages) => {
    // A system prompt may tell the time.
    const said = await run((n) => [{ role: 'system', content: `It is ${n} o'clock.` }, ...messages]);
    expect(said.slice(0, 6)).toEqual([...repeated(5, 'forwarded'), 'killed']);
  });

  test.each<[string, (n: number) => object[]]>([
    ['an answer that goes on from where it was', (n) => [...QUESTION, model(LONG.repeat(n + 1))]],
    ['an answer that is one sign longer', (n) => [...QUESTION, model(LONG + '.'.repeat(n))]],
    ['the same beginning for another question', (n) => [user(`Translate text ${n}.`), model(LONG)]],
    [
      'the same beginning for another result',
      (n) => [
        ...QUESTION,
        { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: '1', content: `${n} % done` },
        model(LONG),
      ],
    ],
  ])('is none where anything is new: %s', async (_, messages) => {
    expect(await run(messages)).toEqual(repeated(20, 'forwarded'));
  });
});

test("a call that carries an operator's guidance is not stopped, and what is counted begins with it", async () => {
  const { ask } = setUp();
  const named = { cache: null, isSessionInferred: false };
  const guided = { takenDirectiveIds: ['guidance-1'] };
  const said = await inTurn(5, () => ask(named));
  said.push(await ask(named, QUESTION, { isAnswered: true }, guided));
  said.push(...(await inTurn(5, () => ask(named))));
  expect(said).toEqual([...repeated(10, 'forwarded'), 'killed']);
});

test('whoever is told that the agent was stopped is told once that is kept: it holds also where the gateway dies behind the answer', async () => {
  const { promise: kept, resolve: keep } = deferred();
  const { ask, incidents } = setUp(kept);
  const named = { cache: null, isSessionInferred: false };
  await inTurn(5, () => ask(named));
  const said: string[] = [];
  const last = ask(named).then((decision) => said.push(decision));
  expect(incidents).toHaveLength(1);
  await new Promise(setImmediate);
  expect(said).toEqual([]);
  keep();
  await last;
  expect(said).toEqual(['killed']);
});
