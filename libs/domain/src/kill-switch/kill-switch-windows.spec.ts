import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  incidentEvidenceSchema,
  KILL_SWITCH_DEFAULTS,
  type KillSwitchSettings,
  type LlmAnswer,
  type LlmRequest,
  type LlmToolCall,
  type NewestTurn,
} from '#contracts';
import { buildLlmAnswer, FakeClock } from '#testing';
import { answerPrint } from './answer-print.js';
import { type KillSwitchDecision, KillSwitchWindows, type KillSwitchWindowsOptions } from './index.js';

const KEY = 'tenant\0agent\0session';

const LOG = 'compiled a module without errors. '.repeat(400);

const request = (newest: Partial<NewestTurn>): LlmRequest => ({
  model: 'gpt-test',
  stream: false,
  system_text: 'You are a careful assistant. '.repeat(200),
  first_user_text: 'Fix the build, please.',
  newest: { user_text: '', tool_results: [], attachment_digests: [], ...newest },
  output_tokens_max: null,
  message_count: 2,
});
const ask = (user_text: string, more: Partial<NewestTurn> = {}) => request({ user_text, ...more });
const call = (name: string, args: unknown = {}, id: string | null = 'call_1'): LlmToolCall => ({
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});
const came = (made: LlmToolCall | null, text: string) => ({ call: made, text, failed: false });
const results = (...tool_results: ReturnType<typeof came>[]) => request({ tool_results });
const says = (text: string, ...tool_calls: LlmToolCall[]) =>
  buildLlmAnswer({ text, tool_calls, finish: tool_calls.length > 0 ? 'tool_calls' : 'stop' });

interface ObserveOptions {
  key?: string;
  retry?: boolean;
  id?: string;
  role?: string;
  /** Since the request before. */
  said?: string;
  /** Its client does, before there is an answer. */
  vanishes?: boolean;
}

describe('KillSwitchWindows', () => {
  let clock: FakeClock;
  let windows: KillSwitchWindows;
  let settings: KillSwitchSettings;
  let lastId: number;

  beforeEach(() => {
    clock = new FakeClock();
    windows = new KillSwitchWindows({ clock });
    settings = { ...KILL_SWITCH_DEFAULTS };
    lastId = 0;
  });

  const observe = (
    what: LlmRequest,
    { key = KEY, retry = false, id = `call-${++lastId}`, role = '', said = '' }: ObserveOptions = {},
  ) =>
    windows.observe(key, settings, {
      call_id: id,
      at_ms: clock.nowMs(),
      request: what,
      is_retry: retry,
      role,
      wordsSince: () => said,
    });
  /** A request and its answer. */
  const step = (what: LlmRequest, answer: LlmAnswer, options: Omit<ObserveOptions, 'id'> = {}) => {
    const decision = observe(what, options);
    if (options.vanishes) windows.drop(options.key ?? KEY, `call-${lastId}`);
    else if (decision.kind === 'forward') windows.recordAnswer(options.key ?? KEY, `call-${lastId}`, answer);
    return decision;
  };
  /** Scores of the steps, in order, to the one that is stopped. */
  const run = (count: number, take: (n: number) => KillSwitchDecision) => {
    const scores: number[] = [];
    for (let n = 1; n <= count; n += 1) {
      const decision = take(n);
      scores.push(decision.breakdown.score);
      if (decision.kind === 'block') return { scores, stoppedAt: n };
    }
    return { scores, stoppedAt: null };
  };
  const create = (options: Partial<KillSwitchWindowsOptions>) => {
    windows = new KillSwitchWindows({ clock, ...options });
  };

  describe('score', () => {
    it('[KS-7.1] of an equal question with equal answers is 3n - 5, and stops the 6th request', () => {
      expect(run(9, () => step(ask('Is the build green?'), says('I do not know.')))).toEqual({
        scores: [0, 1, 4, 7, 10, 13],
        stoppedAt: 6,
      });
    });

    it('[KS-7.1] counts each signal before its weight', () => {
      run(5, () => step(ask('Is the build green?'), says('No.')));
      expect(step(ask('Is the build green?'), says('No.')).breakdown).toEqual({
        similar_prompts: 5,
        similar_responses: 4,
        repeated_tool_calls: 0,
        score: 13,
      });
    });

    it('[KS-7.1] of an equal question with different answers is n - 1, and stops the 12th request', () => {
      const answers = [
        'red',
        'green',
        'blue',
        'grey',
        'pink',
        'black',
        'white',
        'brown',
        'cyan',
        'gold',
        'teal',
      ];
      const { scores, stoppedAt } = run(12, (n) => step(ask('Name a colour'), says(`${answers[n - 1]}`)));
      expect(scores).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(stoppedAt).toBe(12);
    });

    it('[KS-7.1] of an equal tool step with equal results is 4.5n - 11, and stops the 5th request', () => {
      const made = call('read_file', { path: 'a.ts' });
      const take = (n: number) =>
        step(n === 1 ? ask('Read a.ts') : results(came(made, 'no such file')), says('', made));
      // At request 5: 3 equal turns before, 2 answers equal to the latest, 3 equal calls: 3 + 4 + 4.5.
      expect(run(9, take)).toEqual({ scores: [0, 0, 2.5, 7, 11.5], stoppedAt: 5 });
    });

    describe('of a supervisor to whom its workers hand back with one and the same call', () => {
      const delegates = says('', call('transfer_to_worker'));
      /** @param told by the worker */
      const handBack = (n: number, told: string, options: ObserveOptions = {}) => {
        const back = results(came(call('transfer_back'), 'Successfully transferred back'));
        const said = `transfer_to_worker {} ${told} transfer_back {} Successfully transferred back`;
        return step({ ...back, message_count: 2 + 3 * n }, delegates, { said, ...options });
      };

      it('is 0 as long as they tell something else', () => {
        step(ask('Write the report'), delegates);
        const topics = [...'abcdefghijkl'].map((letter) => letter.repeat(5));
        expect(run(12, (n) => handBack(n, `the chapter about ${topics[n - 1]} is done`))).toEqual({
          scores: Array(12).fill(0),
          stoppedAt: null,
        });
      });

      it('tells figures apart', () => {
        step(ask('Count them'), delegates);
        expect(run(12, (n) => handBack(n, `there are ${n} of them in the house`)).stoppedAt).toBeNull();
      });

      it('is 3n - 5 where they tell the same, which no call of its own repeats', () => {
        step(ask('Write the report'), delegates);
        expect(run(9, (n) => handBack(n, 'I could not find the file.'))).toEqual({
          scores: [0, 1, 4, 7, 10, 13],
          stoppedAt: 6,
        });
      });

      it('is 0 in one session with its workers, whose answers hold that call', () => {
        const handsBack = says('', call('transfer_back'));
        const topics = [...'abcdefghi'].map((letter) => letter.repeat(5));
        step(ask('Write the report'), delegates, { role: 'supervisor' });
        const take = (n: number) => {
          const told = `the chapter about ${topics[n - 1]} is done`;
          const sent = results(came(call('transfer_to_worker'), 'Successfully transferred'));
          const work = { ...sent, message_count: 1 + 3 * n };
          const decision = step(work, handsBack, { role: 'worker', said: told });
          if (decision.kind === 'block') return decision;
          return handBack(n, told, { role: 'supervisor' });
        };
        expect(run(9, take).stoppedAt).toBeNull();
      });

      it.each([
        ['is 0', (n: number) => `the chapter about ${'abcdefghi'.charAt(n).repeat(5)} is done`, null],
        ['is 3n - 5', () => 'I could not find the file.', 6],
      ] as const)(
        '%s as ever where a client vanishes before each is answered, and asks again',
        (_, told, stoppedAt) => {
          step(ask('Write the report'), delegates);
          const take = (n: number) => {
            const vanished = handBack(n, told(n), { vanishes: true });
            return vanished.kind === 'block' ? vanished : handBack(n, told(n));
          };
          expect(run(8, take).stoppedAt).toBe(stoppedAt);
        },
      );

      it('is 3n - 5 where a shorter request of its own hangs', () => {
        step(ask('Write the report'), delegates);
        observe(ask('What is it about?'));
        expect(run(9, (n) => handBack(n, 'I could not find the file.')).stoppedAt).toBe(6);
      });

      it('is that of its own calls where the result of one of them comes alone', () => {
        const [read, list] = [call('read'), call('list')];
        const take = (n: number) =>
          step({ ...results(came(read, 'no such file')), message_count: 2 + n }, says(`${n}`, read, list), {
            said: `${n}`.repeat(n),
          });
        step(ask('Read it'), says('', read, list));
        expect(take(1).breakdown.repeated_tool_calls).toBe(0);
        expect(take(2).breakdown.repeated_tool_calls).toBe(1);
      });

      it('takes a retry for the step it tries again', () => {
        step(ask('Write the report'), delegates);
        handBack(1, 'I could not find the file.');
        const retried = handBack(1, 'I could not find the file.', { retry: true });
        expect(retried.breakdown.score).toBe(0);
      });
    });

    it('[KS-7.1] counts a repeated call among changing ones alone: 1.5 each', () => {
      const made = call('git_status');
      const scores = run(8, (n) =>
        step(
          results(came(made, 'clean'), came(call('read_file', { line: n }), `content ${n}`)),
          says(`Step ${n}, on.`),
        ),
      ).scores;
      expect(scores).toEqual([0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5]);
    });

    it('[KS-7.2] is compared strictly: at the threshold the request goes on', () => {
      settings = { ...settings, threshold: 13 };
      expect(run(9, () => step(ask('again'), says('same'))).stoppedAt).toBe(7);
    });

    it('[KS-7.2] fires at the 4th request with the strict preset, at the 9th with the tolerant one', () => {
      settings = { ...settings, window_size: 10, threshold: 5 };
      expect(run(20, () => step(ask('again'), says('same'))).stoppedAt).toBe(4);
      windows.forget(KEY);
      settings = { ...settings, window_size: 50, threshold: 20 };
      expect(run(20, () => step(ask('again'), says('same'))).stoppedAt).toBe(9);
    });

    it('[KS-7.2] sees no further back than the window', () => {
      settings = { ...settings, window_size: 5, threshold: 50 };
      // Five earlier requests: 5 prompts and 4 answers.
      expect(run(9, () => step(ask('again'), says('same'))).scores.at(-1)).toBe(13);
      for (const word of ['red', 'green', 'blue', 'white', 'black']) step(ask(word), says(word));
      expect(step(ask('again'), says('same')).breakdown.score).toBe(0);
    });

    it('[KS-7.2] follows a window that is made smaller', () => {
      settings = { ...settings, window_size: 20, threshold: 50 };
      run(12, () => step(ask('again'), says('same')));
      settings = { ...settings, window_size: 5 };
      expect(step(ask('again'), says('same')).breakdown.similar_prompts).toBe(5);
    });

    it('scores and remembers nothing while it is off', () => {
      settings = { ...settings, enabled: false };
      expect(run(30, () => step(ask('again'), says('same'))).scores).toEqual(Array(30).fill(0));
      expect(windows.counts().windows).toBe(0);
    });
  });

  describe('what is new in a request', () => {
    it('[KS-7.3] sees through case, white space, numbers, ids and times', () => {
      const variants = [
        'Check order 17 at 2026-01-31T12:00:00Z',
        'check  order 18 at 2026-01-31T12:00:05Z',
        'CHECK order 1,900 at 2026-02-01T12:00:05.5+01:00',
      ];
      const take = (n: number) => step(ask(variants[n % 3] ?? ''), says(`Order ${n} is pending.`));
      expect(run(9, take).stoppedAt).toBe(6);
    });

    it('[KS-7.3] is similar to nothing when it is empty', () => {
      expect(run(30, () => step(ask(' '), says(''))).scores).toEqual(Array(30).fill(0));
      const made = call('wait', { s: 1 });
      expect(run(30, () => step(results(came(made, '')), says('', made))).scores).toEqual(Array(30).fill(0));
    });

    it('[KS-7.3] is the image too', () => {
      const look = (digest: string) => ask('What is this?', { attachment_digests: [digest] });
      expect(run(20, (n) => step(look(`sha256:${n}`), says('A cat.'))).stoppedAt).toBeNull();
      windows.forget(KEY);
      expect(run(20, () => step(look('sha256:1'), says('A cat.'))).stoppedAt).toBe(6);
      windows.forget(KEY);
      const wordless = request({ attachment_digests: ['sha256:1'] });
      expect(run(20, () => step(wordless, says('A cat.'))).stoppedAt).toBe(6);
    });

    it('[KS-7.3] is both, where a turn brings results and a text', () => {
      const turn = (text: string, result: string) =>
        request({ user_text: text, tool_results: [came(call('search', { q: 'x' }), result)] });
      expect(step(turn('go on', 'nothing found'), says('Hm.')).breakdown.score).toBe(0);
      // Another text: only the call counts. Another result: nothing does. Both equal: prompt and two calls.
      expect(step(turn('try harder, please', 'nothing found'), says('Hm.')).breakdown.score).toBe(1.5);
      expect(step(turn('go on', 'three hits'), says('Hm.')).breakdown.score).toBe(0);
      expect(step(turn('go on', 'nothing found'), says('Hm.')).breakdown).toMatchObject({
        similar_prompts: 1,
        repeated_tool_calls: 2,
      });
    });
  });

  describe('tool calls', () => {
    const repeated = (one: [LlmToolCall | null, string], other: [LlmToolCall | null, string]) => {
      windows.forget(KEY);
      step(results(came(...one)), says('one'));
      return step(results(came(...other)), says('two')).breakdown.repeated_tool_calls;
    };

    it('[KS-7.4] are equal whatever the order of their keys, and not for another name, value or number', () => {
      const one = call('search', '{"q":"a","n":1}');
      expect(repeated([one, 'none'], [call('search', '{ "n": 1, "q": "a" }'), 'none'])).toBe(1);
      expect(repeated([one, 'none'], [call('find', '{"q":"a","n":1}'), 'none'])).toBe(0);
      expect(repeated([one, 'none'], [call('search', '{"q":"a","n":2}'), 'none'])).toBe(0);
      expect(repeated([one, 'none'], [call('search', '{"q":"b","n":1}'), 'none'])).toBe(0);
    });

    it('[KS-7.4] are equal by their raw text where it is not JSON, and without arguments', () => {
      expect(repeated([call('sh', 'ls -l {'), 'x'], [call('sh', 'ls -l {'), 'x'])).toBe(1);
      expect(repeated([call('sh', 'ls -l {'), 'x'], [call('sh', 'ls -a {'), 'x'])).toBe(0);
      expect(repeated([call('now', ' '), 'x'], [call('now', '{}'), 'x'])).toBe(1);
    });

    it('[KS-7.4] differ by the indentation of what they write', () => {
      const write = (text: string) => call('write', { text });
      expect(repeated([write('if x:\n  y'), 'done'], [write('if x:\n    y'), 'done'])).toBe(0);
    });

    it('[KS-7.4] do not depend on the ids that a vendor gives them', () => {
      expect(repeated([call('a', {}, 'call_1'), 'x'], [call('a', {}, null), 'x'])).toBe(1);
    });

    it.each([
      ['a share', '41 %', '42 %'],
      ['a number in JSON', '{"progress":0.41}', '{"progress":0.42}'],
      ['a word', 'running', 'done'],
      ['one digit of a long page', `${LOG}line 41`, `${LOG}line 42`],
    ])('[KS-7.4] do not repeat when their result differs in %s', (_what, one, other) => {
      expect(repeated([call('poll'), one], [call('poll'), other])).toBe(0);
    });

    it('[KS-7.4] without a result do not repeat', () => {
      expect(repeated([call('press_key'), ''], [call('press_key'), ' '])).toBe(0);
    });

    it('[KS-7.4] repeat with a long result of which only a word changed', () => {
      // From a fixed text: a word of ten thousand letters moves less than three bits.
      const page = Array.from({ length: 3_000 }, (_, index) =>
        `${(index * 7919) % 1009}`.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? ''),
      ).join(' ');
      expect(repeated([call('cat'), `${page} tmpx`], [call('cat'), `${page} tmpy`])).toBe(1);
    });

    it('[KS-7.4] that nobody knows are taken from the answer before, in their order', () => {
      const made = [call('a'), call('b')];
      step(ask('wait'), says('I do.'));
      step(ask('go'), says('', ...made));
      step(results(came(null, 'red'), came(null, 'blue')), says('', ...made));
      expect(step(results(came(null, 'red'), came(null, 'blue')), says('')).breakdown).toMatchObject({
        similar_prompts: 1,
        repeated_tool_calls: 2,
      });
    });

    it('[KS-7.4] that nobody knows stay unknown where the answer before made another number of them', () => {
      step(ask('go'), says('', call('a'), call('b')));
      step(results(came(null, 'red')), says('', call('a'), call('b')));
      expect(step(results(came(null, 'red')), says('')).breakdown.score).toBe(0);
    });

    it('[KS-7.4] that stay unknown repeat nothing', () => {
      // Nor are they another agent's: to be compared with all that it said takes a call that somebody made.
      const take = (n: number) =>
        step({ ...results(came(null, 'ok')), message_count: n }, says('done'), { said: 'ok' });
      expect(run(30, take).scores).toEqual(Array(30).fill(0));
    });

    it('[KS-7.4] made at the same time may come back in another order', () => {
      step(results(came(call('a'), 'red'), came(call('b'), 'blue')), says('x'));
      expect(
        step(results(came(call('b'), 'blue'), came(call('a'), 'red')), says('x')).breakdown,
      ).toMatchObject({
        similar_prompts: 1,
        repeated_tool_calls: 2,
      });
    });
  });

  describe('answers', () => {
    it('[KS-7.5] are compared by text and calls, without ids', () => {
      let n = 0;
      const answer = () => says('Let me look.', call('ls', { path: '.' }, `call_${++n}`));
      expect(run(9, () => step(ask('What is here?'), answer())).stoppedAt).toBe(6);
    });

    it('[KS-7.5] are compared by the arguments of their calls, whatever the order of the keys', () => {
      const made = (n: number) =>
        call(
          'search',
          n % 2 === 0 ? { query: 'the order', limit: 'few' } : { limit: 'few', query: 'the order' },
        );
      const take = (n: number) =>
        step(
          n === 1 ? ask('Find the order') : results(came(made(n - 1), 'nothing found')),
          says('', made(n)),
        );
      expect(run(9, take)).toEqual({ scores: [0, 0, 2.5, 7, 11.5], stoppedAt: 5 });
    });

    it('[KS-7.5] differ by their calls, below however long a text', () => {
      const text = 'I will now think about this at great length. '.repeat(100);
      const names = ['ls', 'cat', 'grep', 'find', 'stat', 'head', 'tail', 'sort', 'uniq', 'wc'];
      const { scores } = run(9, (n) => step(ask('What is here?'), says(text, call(names[n] ?? ''))));
      expect(scores).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('[KS-7.5] that are empty are similar to nothing', () => {
      expect(run(9, () => step(ask('Hello?'), says('  '))).scores).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('[KS-7.6] belong to their own request, also when requests overlap', () => {
      step(ask('the one question'), says('yes'));
      const ids = ['a', 'b', 'c'];
      for (const id of ids) observe(ask(id === 'b' ? 'the one question' : `${id} other words`), { id });
      // Back to front: by arrival, every answer would be somebody else's.
      for (const [id, text] of [
        ['c', 'no'],
        ['b', 'yes'],
        ['a', 'never'],
      ] as const)
        windows.recordAnswer(KEY, id, says(text));
      expect(observe(ask('the one question')).breakdown).toMatchObject({
        similar_prompts: 2,
        similar_responses: 1,
      });
      expect(observe(ask('a other words')).breakdown).toMatchObject({
        similar_prompts: 1,
        similar_responses: 0,
      });
    });

    it('[KS-7.6] that come after their request has left the window go nowhere', () => {
      settings = { ...settings, window_size: 5 };
      observe(ask('slow'), { id: 'slow' });
      for (const word of ['red', 'green', 'blue', 'white']) step(ask(word), says(word));
      observe(ask('black'), { id: 'black' });
      windows.recordAnswer(KEY, 'slow', says('at last'));
      windows.recordAnswer('another\0key', 'slow', says('at last'));
      windows.recordAnswer(KEY, 'black', says('black'));
      expect(step(ask('black'), says('black')).breakdown).toMatchObject({ similar_prompts: 1 });
      expect(observe(ask('black')).breakdown).toMatchObject({ similar_prompts: 2, similar_responses: 1 });
      expect(windows.counts().windows).toBe(1);
    });

    it('[KS-7.6] still under way count for nothing: nobody asks again because of them', () => {
      step(ask('again'), says('same'));
      for (let n = 0; n < 40; n += 1)
        expect(observe(ask('again')).breakdown).toMatchObject({ similar_prompts: 1, similar_responses: 0 });
      const made = call('ls');
      for (let n = 0; n < 40; n += 1)
        expect(observe(results(came(made, 'a b'), came(call('cat', n), `${n}`))).breakdown.score).toBe(0);
    });

    it.each([false, true])(
      '[KS-7.6] still under way are evidence where there are more of them than any vote has, retry: %s',
      (retry) => {
        let stopped = observe(ask('again'));
        while (stopped.kind === 'forward') stopped = observe(ask('again'), { retry });
        expect(stopped.breakdown).toMatchObject({ similar_prompts: 11, score: 11 });
        expect(stopped.evidence.map(({ is_similar_prompt }) => is_similar_prompt)).toEqual([true, false]);
      },
    );

    it('[KS-7.6] still under way are no such evidence where there are fewer', () => {
      const made = call('ls');
      for (const word of ['red', 'green']) step(results(came(made, 'a b')), says(word));
      expect(observe(results(came(made, 'a b'))).kind).toBe('forward');
      settings = { ...settings, threshold: 1 };
      const stopped = observe(results(came(made, 'a b')));
      if (stopped.kind === 'forward') throw new Error('did not fire');
      expect(
        stopped.evidence.map(({ is_similar_prompt, tool_calls }) => [
          is_similar_prompt,
          tool_calls[0]?.is_repeated,
        ]),
      ).toEqual([
        [true, true],
        [true, true],
        [false, false],
        [false, true],
      ]);
    });

    it('[KS-7.6] to one question asked several times at once are one, the first that comes', () => {
      for (const id of ['fails', 'first', 'late']) observe(ask('again'), { id });
      windows.recordAnswer(KEY, 'first', says('yes'));
      windows.drop(KEY, 'fails');
      expect(observe(ask('again')).breakdown).toMatchObject({ similar_prompts: 1, similar_responses: 0 });
      windows.recordAnswer(KEY, `call-${lastId}`, says('yes'));
      windows.recordAnswer(KEY, 'late', says('no, never'));
      expect(observe(ask('again')).breakdown).toMatchObject({ similar_prompts: 2, similar_responses: 1 });
      expect(windows.counts().chars).toBe(2 * 'againyes'.length + 5);
    });

    it('[KS-7.5] are compared with the latest to an equal question, whatever was asked or is under way since', () => {
      for (let n = 0; n < 2; n += 1) step(ask('again'), says('same'));
      step(ask('something else entirely'), says('otherwise'));
      for (let n = 0; n < 2; n += 1)
        expect(observe(ask('again')).breakdown).toMatchObject({ similar_prompts: 2, similar_responses: 1 });
    });
  });

  describe('no kill', () => {
    it('[KS-8.1] for a 40-step tool task on one user message', () => {
      const files = Array.from(
        { length: 40 },
        (_, index) => `src/module-${'abcdefghij'[index % 10]}/part-${index}.ts`,
      );
      const take = (n: number) => {
        const made = (index: number) => call('write_file', { path: files[index], text: 'export {};' });
        // Every result reads the same; what was done does not.
        return step(
          n === 1 ? ask('Migrate all files.') : results(came(made(n - 2), 'ok')),
          says('', made(n - 1)),
        );
      };
      expect(run(40, take)).toEqual({ scores: Array(40).fill(0), stoppedAt: null });
    });

    it('[KS-8.2] for 50 users who greet one bot', () => {
      for (let user = 0; user < 50; user += 1) {
        const key = `tenant\0bot\0user-${user}`;
        expect(step(ask('Hi'), says('Hello! How can I help?'), { key })).toMatchObject({
          kind: 'forward',
          breakdown: { score: 0 },
        });
      }
      expect(windows.counts().windows).toBe(50);
    });

    it('[KS-8.2] but with one window for all of them, as the seed has it, it is one', () => {
      const key = 'tenant\0bot\0';
      expect(run(50, () => step(ask('Hi'), says('Hello! How can I help?'), { key })).stoppedAt).toBe(6);
    });

    it('[KS-8.3] for polling whose results change', () => {
      const made = call('job_status', { id: 7 });
      const take = (n: number) =>
        step(
          n === 1 ? ask('Wait for job 7.') : results(came(made, `running, ${n} % done`)),
          says('Not yet.', made),
        );
      expect(run(60, take)).toEqual({ scores: Array(60).fill(0), stoppedAt: null });
    });

    it('[KS-8.3] but polling whose result stays is one', () => {
      const made = call('job_status', { id: 7 });
      const take = (n: number) =>
        step(n === 1 ? ask('Wait for job 7.') : results(came(made, 'running')), says('Not yet.', made));
      expect(run(60, take).stoppedAt).toBe(5);
    });

    it('[KS-8.4] for a client that tries again after 500s, saying so or not', () => {
      for (const retry of [true, false]) {
        for (let attempt = 0; attempt < 30; attempt += 1) {
          const id = `failed-${attempt}`;
          const decision = observe(ask('Is the build green?'), { id, retry: retry && attempt > 0 });
          expect(decision).toMatchObject({ kind: 'forward', breakdown: { score: 0 } });
          // A connection that broke, and an answer that was an error.
          if (attempt % 2 === 0) windows.drop(KEY, id);
          else windows.recordAnswer(KEY, id, { ...says(''), failed: true });
        }
      }
    });

    it('[KS-8.4] for retries of a request that still hangs: they are the same step', () => {
      observe(ask('Is the build green?'));
      expect(run(30, () => observe(ask('Is the build green?'), { retry: true })).scores).toEqual(
        Array(30).fill(0),
      );
      windows.recordAnswer(KEY, `call-${lastId}`, says('Yes.'));
      expect(observe(ask('Is the build green?')).breakdown).toMatchObject({ similar_prompts: 1 });
    });

    it('[KS-8.4] for retries of a request that was answered, though the client never saw it', () => {
      step(ask('again'), says('same'));
      expect(run(30, () => step(ask('again'), says('same'), { retry: true })).scores).toEqual(
        Array(30).fill(0),
      );
    });

    it('[KS-8.4] for retries of a request that was answered after one that failed', () => {
      observe(ask('again'));
      windows.drop(KEY, `call-${lastId}`);
      step(ask('again'), says('same'), { retry: true });
      expect(run(30, () => step(ask('again'), says('same'), { retry: true })).scores).toEqual(
        Array(30).fill(0),
      );
    });

    it('[KS-8.4] for the one of two overlapping requests that fails, and not for the other', () => {
      observe(ask('again'));
      observe(ask('again'));
      windows.drop(KEY, 'nobody');
      windows.drop(KEY, 'call-1');
      windows.recordAnswer(KEY, 'call-2', says('same'));
      expect(windows.counts().chars).toBe('againsame'.length);
      expect(step(ask('again'), says('same'), { retry: true }).breakdown.score).toBe(0);
      expect(observe(ask('again')).breakdown).toMatchObject({ similar_prompts: 1 });
    });

    it('[KS-8.4] but an agent whose every step fails once before its retry succeeds is one', () => {
      const take = () => {
        const first = observe(ask('again'));
        if (first.kind === 'block') return first;
        windows.drop(KEY, `call-${lastId}`);
        return step(ask('again'), says('same'), { retry: true });
      };
      expect(run(9, take)).toEqual({ scores: [0, 1, 4, 7, 10, 13], stoppedAt: 6 });
    });

    it('[KS-8.5] for a long shared system prompt', () => {
      const questions = [
        'Who?',
        'What for?',
        'When?',
        'Where to?',
        'Why now?',
        'How much?',
        'Which one?',
        'Since when?',
      ];
      expect(
        run(8, (n) => step(ask(questions[n - 1] ?? ''), says(`It is ${questions[n - 1]?.toLowerCase()}`)))
          .scores,
      ).toEqual(Array(8).fill(0));
    });
  });

  describe('evidence', () => {
    const fire = () => {
      let decision: KillSwitchDecision = {
        kind: 'forward',
        breakdown: { similar_prompts: 0, similar_responses: 0, repeated_tool_calls: 0, score: 0 },
      };
      for (let n = 0; n < 6; n += 1) {
        clock.advance(1_000);
        decision = step(
          ask('Mail jane.doe@example.com my key sk-live-abcdefghijklmnop'),
          says('Sent to jane.doe@example.com.'),
        );
      }
      if (decision.kind !== 'block') throw new Error('did not fire');
      return decision.evidence;
    };

    it('[KS-9.1] is the window, oldest first, and last the request that was stopped', () => {
      step(ask('Something else first'), says('Fine.'));
      const evidence = fire();
      expect(evidence.map(({ call_id }) => call_id)).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `call-${n}`));
      expect(evidence.map((one) => one.is_similar_prompt)).toEqual([
        false,
        true,
        true,
        true,
        true,
        true,
        false,
      ]);
      // The latest answer is what the others are compared with.
      expect(evidence.map((one) => one.is_similar_response)).toEqual([
        false,
        true,
        true,
        true,
        true,
        false,
        false,
      ]);
      expect(evidence.map((one) => one.prompt_distance)).toEqual([expect.any(Number), 0, 0, 0, 0, 0, null]);
      expect(evidence.at(-1)?.response).toBeNull();
      for (const one of evidence) expect(incidentEvidenceSchema.parse(one)).toEqual(one);
    });

    it('[KS-9.2] is redacted', () => {
      expect(fire()[2]).toMatchObject({
        prompt: 'Mail [e-mail] my key [key]',
        response: 'Sent to [e-mail].',
      });
    });

    it('[KS-9.2] shows calls with their results, and the calls an answer made', () => {
      const made = call('http_get', { url: 'https://me:hunter22@example.com' });
      let decision = step(ask('Get it.'), says('', made));
      while (decision.kind === 'forward')
        decision = step(
          results(came(made, 'token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln')),
          says('', made),
        );
      expect(decision.evidence[1]).toMatchObject({
        prompt: '',
        response: '-> http_get({"url":"https://me:[secret]@example.com"})',
        tool_calls: [
          {
            name: 'http_get',
            arguments: '{"url":"https://me:[secret]@example.com"}',
            result: 'token=[token]',
          },
        ],
        repeated_tool_call_count: 1,
      });
    });

    it('[KS-9.2] marks the calls that the stopped turn repeats, as they were counted and not as they read', () => {
      const long = 'x'.repeat(2_000);
      const sorted = (n: number) =>
        n % 2 === 0 ? { limit: 9, text: `${long} end` } : { text: `${long} end`, limit: 9 };
      // The first call is another each time, behind the cut; the second is the same whatever the order of its keys.
      const turn = (n: number) =>
        results(
          came(call('save', { text: `${long} ${n}` }), 'saved'),
          came(call('save', sorted(n)), 'saved'),
        );
      let [n, decision] = [0, observe(ask('Save it.'))];
      while (decision.kind === 'forward') decision = step(turn(++n), says('Saved.'));
      const marks = decision.evidence.map(({ tool_calls }) => tool_calls.map((one) => one.is_repeated));
      // Of the stopped turn, too, that which repeats one before it.
      expect(marks).toEqual([[], ...Array(n).fill([false, true])]);
    });

    it('[KS-9.2] marks no call that came back with something else', () => {
      const [save, poll] = [call('save'), call('poll')];
      const turn = (n: number) => results(came(poll, `${n} %`), came(save, 'saved'));
      let [n, decision] = [0, observe(ask('Save it.'))];
      while (decision.kind === 'forward') decision = step(turn(++n), says('Saved.'));
      for (const { tool_calls } of decision.evidence.slice(1))
        expect(tool_calls).toMatchObject([
          { name: 'poll', is_repeated: false },
          { name: 'save', is_repeated: true },
        ]);
    });

    it('[KS-9.2] shows no part of a secret that lies across a cut', () => {
      const secret = 'postgres://app:canary-password@db and 4111111111111111';
      const across = (charsMax: number, from: number) => `${'a '.repeat(charsMax / 2 - from)}${secret} so on`;
      for (const from of [14, 22]) {
        const made = call(across(300, from), { text: across(300, from) });
        const turn = request({
          user_text: across(1_000, from),
          tool_results: [came(made, across(300, from))],
        });
        for (const answer of [says(across(1_000, from)), says('', made)]) {
          create({});
          let decision = step(turn, answer);
          while (decision.kind === 'forward') decision = step(turn, answer);
          expect(JSON.stringify(decision.evidence)).not.toMatch(/canary|4111/);
        }
      }
    });

    it('[KS-9.3] is cut at 1,000 characters of each, and at five calls, whatever came', () => {
      const long = `${'b@b.c '.repeat(100)}${'long '.repeat(10_000)}`;
      const made = call('write', { text: long });
      const turn = request({ user_text: long, tool_results: Array(6).fill(came(made, long)) });
      let decision = step(turn, says(long, made));
      while (decision.kind === 'forward') decision = step(turn, says(long, made));
      for (const one of decision.evidence) {
        expect(one.tool_calls).toHaveLength(5);
        for (const text of [
          one.prompt,
          one.response ?? '',
          ...one.tool_calls.flatMap((tool) => [tool.arguments, tool.result]),
        ])
          expect(text.length).toBeLessThanOrEqual(1_000);
      }
    });

    it('is not kept of the stopped request, which is stopped again when it comes again, as a retry too', () => {
      fire();
      for (const retry of [false, true, true])
        expect(
          step(ask('Mail jane.doe@example.com my key sk-live-abcdefghijklmnop'), says(''), { retry }),
        ).toMatchObject({ kind: 'block', breakdown: { score: 13 } });
    });
  });

  describe('windows', () => {
    /** Null: there is no such window. */
    const scoreOf = (key: string) =>
      windows.highestScores((own) => (own === key ? own : null)).get(key) ?? null;

    it('are apart by key', () => {
      run(5, () => step(ask('again'), says('same')));
      expect(step(ask('again'), says('same'), { key: 'tenant-2\0agent\0session' }).breakdown.score).toBe(0);
      expect(scoreOf(KEY)).toBe(10);
      expect(scoreOf('nobody')).toBeNull();
    });

    it('tell the highest live score of each agent', () => {
      run(3, () => step(ask('again'), says('same'), { key: 'tenant\0a\0one' }));
      run(2, () => step(ask('again'), says('same'), { key: 'tenant\0a\0two' }));
      step(ask('again'), says('same'), { key: 'tenant\0b\0one' });
      const byAgent = windows.highestScores((key) => key.split('\0')[1] ?? null);
      expect([...byAgent]).toEqual([
        ['a', 4],
        ['b', 0],
      ]);
    });

    it('[KS-9.4] start anew for an agent that is reactivated, late answers and all', () => {
      const other = 'tenant\0agent-2\0session';
      run(5, () => step(ask('again'), says('same')));
      observe(ask('other words entirely'), { id: 'hanging' });
      step(ask('again'), says('same'), { key: other });
      expect(windows.forgetWhere((key) => key.startsWith('tenant\0agent\0'))).toBe(1);
      windows.recordAnswer(KEY, 'hanging', says('same'));
      expect(scoreOf(KEY)).toBeNull();
      expect(scoreOf(other)).toBe(0);
      expect(run(9, () => step(ask('again'), says('same'))).stoppedAt).toBe(6);
    });

    it('[KS-9.5] are bounded in number, and what is evicted is counted', () => {
      create({ countMax: 3 });
      for (let n = 0; n < 10; n += 1) step(ask('Hi'), says('Hello'), { key: `tenant\0bot\0${n}` });
      expect(windows.counts()).toMatchObject({ windows: 3, evicted_capacity: 7 });
    });

    it.each([
      ['number', { countMax: 100 }],
      ['evidence', { charsMax: 100_000 }],
    ])('[KS-9.5] of one tenant stay, however many another fills their bound in %s with', (_which, bounds) => {
      create(bounds);
      let sent = 0;
      const flood = (id: string) =>
        step(ask(`Ticket ${id} `.repeat(100)), says('Done. '.repeat(100)), { key: `noisy\0bot\0${id}` });
      const outcome = run(9, () => {
        for (const end = sent + 100; sent < end; sent += 1) flood(`${sent}`);
        return step(ask('again'), says('same'));
      });
      expect(outcome.stoppedAt).toBe(6);
      const { windows: count, chars, evicted_capacity, evicted_memory } = windows.counts();
      expect(count).toBeLessThanOrEqual(100);
      expect(chars).toBeLessThanOrEqual(100_000 + 100_000 * Number('countMax' in bounds));
      expect(evicted_capacity + evicted_memory).toBeGreaterThan(400);
    });

    it('[KS-9.5] weigh what prints of many small results, and keys of many calls, take', () => {
      create({ charsMax: 1_000_000 });
      const many = Array.from({ length: 64 }, (_, index) => call('read', { index }));
      for (let n = 0; n < 50; n += 1) {
        const key = `tenant\0bot\0${n}`;
        step(ask(`Ticket ${n}`), says('', ...many), { key });
        step(results(...many.map((made) => came(made, `${n}`))), says('Done.'), { key });
      }
      expect(windows.counts().evicted_memory).toBeGreaterThan(10);
    });

    it('[KS-9.5] look at no call of theirs once for each result, and keep a bounded number of an answer', () => {
      const calls = (of: string) => Array.from({ length: 600 }, (_, index) => call(`${of}${index}`));
      const includes = vi.spyOn(Array.prototype, 'includes');
      for (let n = 0; n < 5; n += 1) step(ask(`Ticket ${n} of ${LOG}`), says('', ...calls(`made${n}.`)));
      step(results(...calls('another').map((made) => came(made, 'ok'))), says('Done.'));
      const looked = includes.mock.contexts.reduce<number>((sum, all) => sum + (all as []).length, 0);
      includes.mockRestore();
      expect(looked).toBeLessThan(10 * 600);
      expect(answerPrint(says('', ...calls('made'))).callKeys).toHaveLength(512);
    });

    it('[KS-9.5] are gone when idle, which is no want of room', () => {
      create({ idleMs: 60_000 });
      run(5, () => step(ask('again'), says('same')));
      clock.advance(60_001);
      expect(windows.highestScores(() => '').size).toBe(0);
      expect(step(ask('again'), says('same')).breakdown.score).toBe(0);
      expect(windows.counts()).toMatchObject({ windows: 1, evicted_capacity: 0, evicted_memory: 0 });
    });

    it('[KS-9.5] are bounded in what they keep for evidence: the least recently used leave, the one in use stays', () => {
      create({ charsMax: 5_000 });
      for (const key of ['a', 'b', 'c']) step(ask(key.repeat(1_000)), says('x'.repeat(1_000)), { key });
      expect(windows.counts()).toMatchObject({ windows: 2, chars: 4_000, evicted_memory: 1 });
      expect(scoreOf('a')).toBeNull();
      for (let n = 0; n < 9; n += 1)
        step(ask(`${'defghijkl'[n]}`.repeat(1_000)), says('y'.repeat(1_000)), { key: 'c' });
      expect(windows.counts()).toMatchObject({ windows: 1, evicted_memory: 2 });
    });

    it('[KS-9.5] count what they keep exactly, through answers, drops, retries, cuts and forgetting', () => {
      settings = { ...settings, window_size: 5 };
      for (let n = 0; n < 12; n += 1) step(ask(`${'abcdefghijkl'[n]}`.repeat(50)), says('z'.repeat(30)));
      expect(windows.counts().chars).toBe(5 * 80);
      windows.drop(KEY, `call-${lastId}`);
      expect(windows.counts().chars).toBe(4 * 80);
      observe(ask('k'.repeat(50)), { retry: true });
      expect(windows.counts().chars).toBe(3 * 80 + 50);
      observe(results(came(call('abc', 'de'), 'fghi')));
      expect(windows.counts().chars).toBe(3 * 80 + 50 + 9 + 340);
      windows.forget(KEY);
      expect(windows.counts()).toMatchObject({ chars: 0, windows: 0 });
    });
  });
});
