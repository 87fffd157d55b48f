import { describe, expect, test, vi } from 'vitest';
import { type AgentPolicy, type LlmRequest, type SemanticLoopAction, sessionKey } from '#contracts';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { defaultPolicy } from '#domain/policy';
import { excerptOf } from '#domain/semantic-loop';
import { buildLoopAnswer } from '#testing';
import type { LoopQuestion, LoopVerdict } from '../../semantic-loop/loop-check.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall } from '../proxy-call.js';
import { semanticLoopStep } from './semantic-loop.step.js';

const ANSWER = buildLoopAnswer();
const LOOP: LoopVerdict = { kind: 'loop', answer: ANSWER, isNew: true };

const callOf = (body: object, { dialect, ...changes }: Partial<ProxyCall> = {}): ProxyCall =>
  Object.assign(buildProxyCall({ body, dialect }), changes);

const chat = (...messages: object[]) => ({ model: 'm', messages });
const user = (content: unknown) => ({ role: 'user', content });

function setUp(options: { verdict?: LoopVerdict; isEnabled?: boolean; policy?: Partial<AgentPolicy> } = {}) {
  const asked: LoopQuestion[] = [];
  const firsts: unknown[] = [];
  const noted: string[] = [];
  const ended: unknown[] = [];
  const failures: string[] = [];
  const step = semanticLoopStep({
    isEnabled: options.isEnabled ?? true,
    agents: {
      restriction: () => (options.policy ? { ...defaultPolicy('agent-1'), ...options.policy } : null),
    },
    check: {
      ask: async (question) => {
        asked.push(question);
        return options.verdict ?? LOOP;
      },
      noteFirst: (first) => firsts.push(first),
      noteEnded: (...how) => ended.push(how),
    },
    desk: {
      recall: async () => {},
      note: (call, policy) => {
        noted.push(`${call.callId} ${policy}${call.isHinted ? '' : ' without the hint'}`);
        return { action: 'hinted' as SemanticLoopAction } as never;
      },
    },
    events: { failedOpen: (reason) => failures.push(reason) },
    hint: 'Try another way.',
  });
  return { step, asked, firsts, noted, ended, failures };
}

describe('the semantic-loop step', () => {
  test('puts the hint among what the model is told, and says so in the waterfall', async () => {
    const { step, asked, noted } = setUp();
    const call = callOf(chat(user('Where is my parcel?')));
    expect(await step.run?.(call)).toBeUndefined();
    expect(asked).toMatchObject([
      { tenantId: 'default', sessionId: 's1', callId: 'call-1', prompt: 'Where is my parcel?' },
    ]);
    expect(call.injections).toEqual(['Try another way.']);
    expect(call.finding).toBe('hinted');
    expect(noted).toEqual(['call-1 alert']);
    expect(call.onGone).toBeNull();
  });

  test('of a loop that was counted already the model is told, too, and nobody else', async () => {
    const { step, noted } = setUp({ verdict: { ...LOOP, isNew: false } });
    const call = callOf(chat(user('Where is my parcel?')));
    await step.run?.(call);
    expect([call.injections, call.finding, noted]).toEqual([['Try another way.'], 'hinted', []]);
  });

  test.each<[AgentPolicy['semantic_loop'], string[]]>([
    ['pause', ['call-1 pause']],
    ['off', []],
  ])('acts by the policy as it is once the loop is found: %s', async (semantic_loop, expected) => {
    const policy: Partial<AgentPolicy> = { semantic_loop: 'hint' };
    const { step, noted } = setUp({ policy });
    const running = step.run?.(callOf(chat(user('Where is my parcel?'))));
    policy.semantic_loop = semantic_loop;
    await running;
    expect(noted).toEqual(expected);
  });

  test('asks about the newest words alone, however long the conversation', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    const earlier = Array.from({ length: 60 }, (_, at) => [
      user(`question ${at}`),
      { role: 'assistant', content: `answer ${at}` },
    ]).flat();
    await step.run?.(
      callOf(chat({ role: 'system', content: 'x'.repeat(30_000) }, ...earlier, user('And what now?'))),
    );
    expect(asked.map((question) => question.prompt)).toEqual(['And what now?']);
  });

  test.each([
    [
      'a request that only warms up the vendor’s prompt cache',
      callOf(
        { model: 'm', max_tokens: 0, messages: [user('Where is it now?')] },
        { dialect: dialectFor('anthropic', 'POST', '/v1/messages') },
      ),
    ],
    [
      'a call without a session',
      callOf(chat(user('Where is it now?')), { sessionId: null, sessionKey: null }),
    ],
    ['a path that is not read', callOf(chat(user('Where is it now?')), { dialect: null })],
    ['white space', callOf(chat(user(' \n')))],
    ['a word that goes on as before', callOf(chat(user('Continue.')))],
    [
      'tool results alone',
      callOf(
        chat(
          user('Begin the long task'),
          {
            role: 'assistant',
            tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 't1', content: 'same as ever' },
        ),
      ),
    ],
  ])('does not look at %s', async (_, call) => {
    const { step, asked, ended } = setUp();
    expect(await step.run?.(call)).toBeUndefined();
    step.settle?.(call);
    expect([asked, ended, call.injections, call.finding]).toEqual([[], [], [], null]);
  });

  test('has the first question of a session that nobody named noted, waits for nothing and takes it for no loop', () => {
    const { step, asked, firsts, noted, ended } = setUp();
    const call = callOf(chat({ role: 'system', content: 'Help.' }, user('Where is it now?')), {
      isSessionInferred: true,
    });
    expect(step.run?.(call)).toBeUndefined();
    step.settle?.(call);
    expect(firsts).toMatchObject([{ agentId: 'agent-1', callId: 'call-1', prompt: 'Where is it now?' }]);
    expect(call.asked).toHaveLength(1);
    expect([asked, noted, ended, call.injections, call.onGone]).toEqual([[], [], [], [], null]);
  });

  test('does not look where it is switched off, for all or for this agent', async () => {
    for (const options of [{ isEnabled: false }, { policy: { semantic_loop: 'off' as const } }]) {
      const { step, asked } = setUp(options);
      await step.run?.(callOf(chat(user('Where is it now?'))));
      expect(asked).toEqual([]);
    }
  });

  test('hands the agent’s policy to what follows', async () => {
    const { step, noted } = setUp({ policy: { semantic_loop: 'pause' } });
    await step.run?.(callOf(chat(user('Where is it now?'))));
    expect(noted).toEqual(['call-1 pause']);
  });

  test('fails open: the call is as it came, and the waterfall says why', async () => {
    const { step, noted } = setUp({ verdict: { kind: 'failed_open', reason: 'timeout' } });
    const call = callOf(chat(user('Where is it now?')));
    await step.run?.(call);
    expect([call.injections, call.finding, noted]).toEqual([[], 'timeout', []]);
  });

  test.each([
    ['has no place for it', (body: unknown) => body],
    [
      'cannot be changed',
      () => {
        throw new Error('no');
      },
    ],
  ])('fails open when the request %s: the loop is known, the request stays', async (_, injectSystem) => {
    const { step, failures, noted } = setUp();
    const call = callOf(chat(user('Where is it now?')));
    call.dialect = { ...(call.dialect as Dialect), injectSystem };
    await step.run?.(call);
    expect([call.injections, failures, noted]).toEqual([
      [],
      ['modification'],
      ['call-1 alert without the hint'],
    ]);
  });

  test.each([
    [
      'openai',
      '/chat/completions',
      (...turns: object[]) => chat({ role: 'system', content: 'Help.' }, ...turns),
    ],
    ['openai', '/responses', (...turns: object[]) => ({ model: 'm', instructions: 'Help.', input: turns })],
    ['anthropic', '/v1/messages', (...turns: object[]) => ({ model: 'm', system: 'Help.', messages: turns })],
  ])(
    'in a session that nobody named, knows what this conversation asked from what another one did: %s%s',
    async (upstream, path, bodyOf) => {
      const { step, asked } = setUp({ verdict: { kind: 'clear' } });
      const answer = { role: 'assistant', content: 'I see.' };
      const long = `Read this: ${'x'.repeat(20_000)}`;
      const turns = [user('Where is it now?'), answer, user(long), answer, user('How do I pay for it?')];
      const dialect = dialectFor(upstream as 'openai', 'POST', path) as Dialect;
      const body = bodyOf(...turns);
      await step.run?.(callOf(body, { dialect, isSessionInferred: true }));
      const counts = asked[0]?.counts;
      expect(counts?.('Where is it now?')).toBe(true);
      expect(counts?.(excerptOf(long))).toBe(true);
      expect(counts?.('How do I pay for it?')).toBe(false);
      expect(counts?.('Where is it?')).toBe(false);
    },
  );

  test('takes the newest prompt for no earlier one where the model is given its first words', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    const [answer, prefill] = ['I see.', '{'].map((content) => ({ role: 'assistant', content }));
    const body = chat(user('Where is it now?'), answer as object, user('How do I pay?'), prefill as object);
    await step.run?.(callOf(body, { isSessionInferred: true }));
    expect(asked[0]?.counts('How do I pay?')).toBe(false);
    expect(asked[0]?.counts('Where is it now?')).toBe(true);
  });

  test('looks at the question behind which a client puts a long answer of its own, but not at one that is gone on with', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    const prefill = { role: 'assistant', content: 'Certainly. '.repeat(40) };
    await step.run?.(callOf(chat(user('Where is it now?'), prefill)));
    expect(asked[0]?.prompt).toBe('Where is it now?');
    expect(asked[0]?.counts('Where is it now?')).toBe(false);
    expect(asked[0]?.counts('Where might it be now?')).toBe(true);
    // Without such words at its end the same question is asked again.
    await step.run?.(callOf(chat(user('Where is it now?'))));
    expect(asked[1]?.counts('Where is it now?')).toBe(true);
  });

  test.each([
    [
      'behind results of a tool',
      [
        user('Fix the failing tests'),
        { role: 'assistant', tool_calls: [{ id: 't1', type: 'function', function: { name: 'f' } }] },
        { role: 'tool', tool_call_id: 't1', content: 'another file' },
        user('Keep your list of tasks up to date.'),
      ],
    ],
    [
      'beside a picture',
      [
        user([
          { type: 'text', text: 'Keep your list of tasks up to date.' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ]),
      ],
    ],
  ])('takes the same words to the letter for no loop %s, but for one in other words', async (_, messages) => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    await step.run?.(callOf(chat(...messages)));
    expect(asked[0]?.prompt).toBe('Keep your list of tasks up to date.');
    expect(asked[0]?.counts('Keep your list of tasks up to date.')).toBe(false);
    expect(asked[0]?.counts('Keep the list of your tasks up to date.')).toBe(true);
  });

  test('looks back over a conversation that takes long to read no further than it has time for', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    const body = chat(user('Where is it now?'), ...Array.from({ length: 60 }, () => user('And what now?')));
    const call = callOf(body, { isSessionInferred: true });
    await step.run?.(call);
    let nowMs = 0;
    let readCount = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const reader = vi.spyOn(call.dialect as Dialect, 'readRequest').mockImplementation(() => {
      nowMs += 20;
      readCount += 1;
      return { newest: { user_text: 'Something else was asked.' } } as LlmRequest;
    });
    expect(asked[0]?.counts('Where might it be?')).toBe(false);
    for (const mock of [clock, reader]) mock.mockRestore();
    expect(readCount).toBeLessThanOrEqual(3);
  });

  test('in a session that its caller named, whatever was asked in it counts', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    await step.run?.(callOf(chat(user('Where is it now?'))));
    expect(asked[0]?.counts('whatever it was')).toBe(true);
  });

  test('says of a client’s own retry that it is one', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    for (const isRetry of [true, false])
      await step.run?.(callOf(chat(user('Where is it now?')), { isRetry }));
    expect(asked.map((question) => question.isRetry)).toEqual([true, false]);
  });

  test('a client that leaves is told to the check', async () => {
    const { step, asked } = setUp({ verdict: { kind: 'clear' } });
    const call = callOf(chat(user('Where is it now?')));
    const running = step.run?.(call);
    call.leave();
    await running;
    await expect(asked[0]?.gone).resolves.toBeUndefined();
  });

  test('says how a call ended that was checked', async () => {
    const { step, ended } = setUp({ verdict: { kind: 'clear' } });
    const call = callOf(chat(user('Where is it now?')));
    await step.run?.(call);
    call.isAnswered = true;
    step.settle?.(call);
    const asked = { agentId: 'agent-1', callId: 'call-1', prompt: 'Where is it now?' };
    expect(ended).toEqual([[{ sessionKey: sessionKey('default', 's1'), ...asked }, 'answered']]);
  });
});
