import { expect, test } from 'vitest';
import {
  type EmbeddingService,
  type LoopAnswer,
  type LoopQuery,
  type LoopSimilarity,
  SIDECAR_FAILURES,
  SidecarFailure,
  sessionKey,
} from '#contracts';
import { excerptOf } from '#domain/semantic-loop';
import { decideVeto } from '#domain/text-likeness';
import { buildLoopAnswer, FakeClock } from '#testing';
import { LoopCheck, type LoopQuestion } from './loop-check.js';

const ANSWER = buildLoopAnswer({
  loop_detected: false,
  max_similarity: 0.4 as LoopSimilarity,
  similar_count: 0,
});
const LOOP = buildLoopAnswer();

function setUp(answer: () => Promise<LoopAnswer> = async () => ANSWER, isReady = true) {
  const asked: LoopQuery[] = [];
  const told: string[] = [];
  const clock = new FakeClock();
  const service: Pick<EmbeddingService, 'checkLoop' | 'isReady'> = {
    isReady,
    checkLoop(query, options) {
      expect(options).toEqual({ timeoutMs: 50, traceParent: '00-trace' });
      asked.push(query);
      return answer();
    },
  };
  const check = new LoopCheck({
    service,
    timeoutMs: 50,
    loopWhenSimilarityAbove: null,
    clock,
    events: {
      checked: (result, tookMs) => told.push(`${result}${tookMs === null ? ' unasked' : ''}`),
      failedOpen: (reason) => told.push(`open: ${reason}`),
    },
  });
  return { check, asked, told, clock };
}

const question = (changes: Partial<LoopQuestion> = {}): LoopQuestion => ({
  tenantId: 'default',
  sessionId: 's1',
  sessionKey: sessionKey('default', 's1'),
  agentId: 'agent-1',
  callId: 'call-1',
  prompt: 'Where is my parcel?',
  isRetry: false,
  task: 'answer',
  counts: () => true,
  traceParent: '00-trace',
  gone: new Promise(() => {}),
  ...changes,
});

test('a loop is handed on with what the sidecar says of it', async () => {
  const { check, asked, told } = setUp(async () => LOOP);
  expect(await check.ask(question())).toEqual({ kind: 'loop', answer: LOOP, isNew: true });
  expect(told).toEqual(['loop']);
  expect(asked).toEqual([
    {
      tenant_id: 'default',
      session_id: 's1',
      agent_id: 'agent-1',
      request_id: 'call-1',
      prompt: 'Where is my parcel?',
      threshold: null,
    },
  ]);
});

test('the first question of a conversation is told the sidecar ahead of the one that follows, once, and as a call of its own', async () => {
  const { check, asked, told } = setUp(async () => LOOP);
  const { sessionKey, agentId } = question();
  check.noteFirst({ sessionKey, agentId, callId: 'call-0', prompt: 'What first?' });
  // The same from somebody else, or once more.
  check.noteFirst({ sessionKey, agentId, callId: 'call-9', prompt: 'What first?' });
  expect(asked).toEqual([]);
  await check.ask(question({ callId: 'call-1', prompt: 'What next?' }));
  check.noteFirst({ sessionKey, agentId, callId: 'call-10', prompt: 'What first?' });
  await check.ask(question({ callId: 'call-2', prompt: 'And then?' }));
  expect(asked.map(({ request_id, prompt }) => [request_id, prompt])).toEqual([
    ['call-0', 'What first?'],
    ['call-1', 'What next?'],
    ['call-2', 'And then?'],
  ]);
  expect(told).toEqual(['loop', 'loop']);
});

test('a first question that the sidecar fails to take fails nothing else', async () => {
  let count = 0;
  const { check, told } = setUp(async () => {
    count += 1;
    if (count === 1) throw new SidecarFailure('timeout', 'too slow');
    return ANSWER;
  });
  const { sessionKey, agentId } = question();
  check.noteFirst({ sessionKey, agentId, callId: 'call-0', prompt: 'What first?' });
  expect(await check.ask(question())).toEqual({ kind: 'clear' });
  expect(told).toEqual(['clear']);
});

test('what another conversation of the same session asked is no loop of this one', async () => {
  const { check, told } = setUp(async () => ({ ...LOOP, similar_prompt: 'Where is it?' }));
  const ask = (own: string) => check.ask(question({ counts: (similar) => similar === own }));
  expect((await ask('Where was it?')).kind).toBe('clear');
  expect((await ask('Where is it?')).kind).toBe('loop');
  expect(told).toEqual(['clear', 'loop']);
});

test('one behind it that is this conversation’s own makes it a loop, and is named', async () => {
  const own = { prompt: 'Where was it?', request_id: 'call-own' };
  const further = [{ prompt: 'Where can it be?', request_id: 'call-theirs' }, own];
  const { check, told } = setUp(async () => ({ ...LOOP, similar_prompt: 'Where is it?', further }));
  expect(await check.ask(question({ counts: (similar) => similar === own.prompt }))).toMatchObject({
    kind: 'loop',
    answer: { similar_prompt: own.prompt, similar_request_id: own.request_id },
  });
  expect(told).toEqual(['loop']);
});

test('the very words that an agent puts to one task after another are no loop, until one of them has them again', async () => {
  const { check, told } = setUp(async () => ({ ...LOOP, similar_prompt: 'Where is my parcel?' }));
  const ask = async (task: string, changes: Partial<LoopQuestion> = {}) =>
    (await check.ask(question({ task, ...changes }))).kind;
  expect(await ask('classify')).toBe('loop');
  expect([await ask('answer'), await ask('translate')]).toEqual(['clear', 'clear']);
  expect([await ask('classify'), await ask('answer')]).toEqual(['loop', 'loop']);
  // In other words it is asked again, whatever for; and what is not known of another agent is no excuse.
  expect(await ask('rate', { prompt: 'Where has my parcel got to?' })).toBe('loop');
  expect(await ask('rate', { agentId: 'agent-2' })).toBe('loop');
  expect(told.filter((result) => result === 'clear')).toHaveLength(2);
});

test('of the prompts of an agent the tasks of the last eight are known', async () => {
  const { check } = setUp(async () => ({ ...LOOP, similar_prompt: 'Where is my parcel?' }));
  await check.ask(question({ task: 'classify' }));
  for (let at = 0; at < 7; at += 1) await check.ask(question({ prompt: `Where is parcel ${at}?` }));
  expect((await check.ask(question({ task: 'answer' }))).kind).toBe('clear');
  for (let at = 0; at < 8; at += 1) await check.ask(question({ prompt: `Where is parcel ${at}?` }));
  expect((await check.ask(question({ task: 'translate' }))).kind).toBe('loop');
});

test.each([
  ['clear', ANSWER],
  ['vetoed', { ...ANSWER, vetoed_by: 'numbers' }],
  ['unfit', { ...ANSWER, fitness: 'unknown_tokens' as const }],
])('%s is no loop, and counted', async (result, answer) => {
  const { check, told } = setUp(async () => answer);
  expect(await check.ask(question())).toEqual({ kind: 'clear' });
  expect(told).toEqual([result]);
});

test.each(SIDECAR_FAILURES)('fails open when the sidecar says %s, counted by that reason', async (reason) => {
  const { check, told } = setUp(() => Promise.reject(new SidecarFailure(reason, 'public')));
  expect(await check.ask(question())).toEqual({ kind: 'failed_open', reason });
  expect(told).toEqual(['failed_open', `open: ${reason}`]);
});

test('fails open when something nobody foresaw is thrown', async () => {
  const { check, told } = setUp(() => {
    throw new TypeError('Where is my parcel?');
  });
  expect(await check.ask(question())).toEqual({ kind: 'failed_open', reason: 'error' });
  expect(told).toEqual(['failed_open', 'open: error']);
});

test('fails open at once, without asking, while the sidecar is away', async () => {
  const { check, asked, told } = setUp(undefined, false);
  expect(await check.ask(question())).toEqual({ kind: 'failed_open', reason: 'unavailable' });
  expect(asked).toEqual([]);
  expect(told).toEqual(['failed_open unasked', 'open: unavailable']);
});

test('a client that leaves ends the wait, and what is found afterwards is nobody’s', async () => {
  const { check, told } = setUp(() => new Promise(() => {}));
  expect(await check.ask(question({ gone: Promise.resolve() }))).toEqual({ kind: 'clear' });
  expect(told).toEqual(['left unasked']);
});

const retry = (callId: string) => question({ callId, isRetry: true });

test('an SDK’s retry of an attempt that was compared is not asked about, however that one ended, and counts once it is answered', async () => {
  for (const ending of ['unanswered', 'left'] as const) {
    const { check, asked, told } = setUp(async () => LOOP);
    expect((await check.ask(question())).kind).toBe('loop');
    check.noteEnded(question(), ending);
    expect((await check.ask(retry('call-2'))).kind).toBe('clear');
    check.noteEnded(retry('call-2'), 'answered');
    expect([asked.length, told]).toEqual([1, ['loop']]);
    expect((await check.ask(question({ callId: 'call-3' }))).kind).toBe('loop');
    expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-3']);
  }
});

test('an SDK that tries again for the second time, what was left in the middle of its answer, has asked it once', async () => {
  const { check, asked } = setUp(async () => LOOP);
  await check.ask(question());
  check.noteEnded(question(), 'left');
  for (const callId of ['call-2', 'call-3']) {
    expect((await check.ask(retry(callId))).kind).toBe('clear');
    check.noteEnded(question({ callId }), 'unanswered');
  }
  expect(asked).toHaveLength(1);
});

test('a retry is no loop while its first attempt is under way', async () => {
  const { check, asked } = setUp(async () => LOOP);
  await check.ask(question());
  expect((await check.ask(retry('call-2'))).kind).toBe('clear');
  expect(asked).toHaveLength(1);
});

test('a retry whose first attempt was sent back before it was compared is compared, once', async () => {
  const { check, asked } = setUp(async () => LOOP);
  expect((await check.ask(retry('call-2'))).kind).toBe('loop');
  check.noteEnded(retry('call-2'), 'unanswered');
  expect((await check.ask(retry('call-3'))).kind).toBe('clear');
  expect(asked.map((query) => query.request_id)).toEqual(['call-2']);
});

test('an answered prompt that is asked again is a loop, though its first attempt was sent back', async () => {
  const { check } = setUp(async () => ({ ...LOOP, similar_prompt: 'Where is my parcel?' }));
  await check.ask(question());
  check.noteEnded(question(), 'answered');
  expect((await check.ask(retry('call-2'))).kind).toBe('loop');
});

test('a retry of an attempt that failed open is compared under the first id', async () => {
  let isAway = true;
  const { check, asked } = setUp(async () => {
    if (isAway) throw new SidecarFailure('timeout', 'public');
    return LOOP;
  });
  expect((await check.ask(question())).kind).toBe('failed_open');
  check.noteEnded(question(), 'unanswered');
  isAway = false;
  expect((await check.ask(retry('call-2'))).kind).toBe('loop');
  expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-1']);
});

test('the very words of a retry whose first attempt came to another gateway are no loop, others are', async () => {
  const { check } = setUp(async () => ({ ...LOOP, similar_prompt: 'Where is my parcel?' }));
  expect((await check.ask(retry('call-2'))).kind).toBe('clear');
  const others = question({ callId: 'call-4', prompt: 'Where has my parcel got to?', isRetry: true });
  expect((await check.ask(others)).kind).toBe('loop');
});

test('a prompt whose client left in the middle of its answer is asked again by anybody else', async () => {
  const { check, asked } = setUp();
  await check.ask(question());
  check.noteEnded(question(), 'left');
  await check.ask(question({ callId: 'call-2' }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-2']);
});

test('a prompt that got no answer may be asked again under its first id, as often as it takes', async () => {
  const { check, asked } = setUp();
  await check.ask(question());
  check.noteEnded(question(), 'unanswered');
  await check.ask(question({ callId: 'call-2' }));
  check.noteEnded(question({ callId: 'call-2' }), 'unanswered');
  await check.ask(question({ callId: 'call-3' }));
  check.noteEnded(question({ callId: 'call-3' }), 'answered');
  await check.ask(question({ callId: 'call-4' }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-1', 'call-1', 'call-4']);
});

test('a prompt without an answer keeps its first id, however many another tenant has', async () => {
  const { check, asked } = setUp();
  await check.ask(question());
  for (let n = 0; n < 10_000; n += 1)
    await check.ask(question({ tenantId: 'noisy', sessionKey: sessionKey('noisy', `${n}`) }));
  await check.ask(question({ callId: 'call-2' }));
  expect(asked.at(-1)?.request_id).toBe('call-1');
});

test('a prompt that is asked several times at once is asked under its first id, until one of them is answered', async () => {
  const { check, asked } = setUp();
  for (const callId of ['call-1', 'call-2', 'call-3']) await check.ask(question({ callId }));
  check.noteEnded(question({ callId: 'call-2' }), 'answered');
  await check.ask(question({ callId: 'call-4' }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-1', 'call-1', 'call-4']);
});

test('a prompt that was answered is asked anew though the call that asked it first is broken off for that', async () => {
  const { check, asked } = setUp();
  for (const callId of ['call-1', 'call-2']) await check.ask(question({ callId }));
  check.noteEnded(question({ callId: 'call-2' }), 'answered');
  check.noteEnded(question({ callId: 'call-1' }), 'unanswered');
  await check.ask(question({ callId: 'call-3' }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-1', 'call-3']);
});

test('a loop of one request is new once, whether that is asked several times at once or again for want of an answer', async () => {
  const { check } = setUp(async () => LOOP);
  const isNew = async (callId: string) => {
    const verdict = await check.ask(question({ callId }));
    return verdict.kind === 'loop' && verdict.isNew;
  };
  expect(await Promise.all(['call-1', 'call-2', 'call-3'].map(isNew))).toEqual([true, false, false]);
  check.noteEnded(question({ callId: 'call-1' }), 'unanswered');
  expect(await isNew('call-4')).toBe(false);
  check.noteEnded(question({ callId: 'call-4' }), 'answered');
  expect(await isNew('call-5')).toBe(true);
});

test('what a session’s other agent is asked is a prompt of its own, and so is its answer', async () => {
  const { check, asked } = setUp();
  const other = { agentId: 'agent-2', callId: 'call-2' };
  check.noteEnded(question(), 'unanswered');
  await check.ask(question(other));
  check.noteEnded(question(other), 'answered');
  await check.ask(question({ callId: 'call-3' }));
  expect(asked.map((query) => [query.agent_id, query.request_id])).toEqual([
    ['agent-2', 'call-2'],
    ['agent-1', 'call-1'],
  ]);
});

test('another prompt, and another session, after an unanswered one is a prompt of its own', async () => {
  const { check, asked, clock } = setUp();
  check.noteEnded(question(), 'unanswered');
  await check.ask(question({ callId: 'call-2', prompt: 'Where is my parcel now?' }));
  await check.ask(question({ callId: 'call-3', sessionKey: sessionKey('other', 's1') }));
  clock.advance(11 * 60_000);
  await check.ask(question({ callId: 'call-4' }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-2', 'call-3', 'call-4']);
});

test('each of several prompts that got no answer is asked again under its own first id', async () => {
  const { check, asked } = setUp();
  check.noteEnded(question(), 'unanswered');
  check.noteEnded(question({ callId: 'call-2', prompt: 'When does the shop open?' }), 'unanswered');
  await check.ask(question({ callId: 'call-3' }));
  check.noteEnded(question({ callId: 'call-3' }), 'answered');
  await check.ask(question({ callId: 'call-4', prompt: 'When does the shop open?' }));
  await check.ask(question({ callId: 'call-5' }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-1', 'call-2', 'call-5']);
});

test('of the prompts of a session that got no answer the last eight are known', async () => {
  const { check, asked } = setUp();
  for (let at = 0; at < 9; at += 1)
    check.noteEnded(question({ callId: `call-${at}`, prompt: `Where is parcel ${at}?` }), 'unanswered');
  for (const at of [8, 1, 0])
    await check.ask(question({ callId: 'again', prompt: `Where is parcel ${at}?` }));
  expect(asked.map((query) => query.request_id)).toEqual(['call-8', 'call-1', 'again']);
});

test('two long prompts that differ only in what is left out are told apart, and equal ones are not', () => {
  const promptOn = (subject: string) => `${'a '.repeat(5_000)}${subject}${' b'.repeat(5_000)}`;
  const [one, other] = [excerptOf(promptOn('the seller')), excerptOf(promptOn('the tenant'))];
  expect(excerptOf(promptOn('the seller'))).toBe(one);
  expect(decideVeto(one, other, { strict: false })).toBe('code');
});
