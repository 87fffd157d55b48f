/** What of a request's score is owed to the order in which requests were asked and answered, and what is not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KILL_SWITCH_DEFAULTS, type LlmRequest } from '#contracts';
import { buildLlmAnswer, FakeClock } from '#testing';
import { KillSwitchWindows } from './index.js';

const KEY = 'tenant\0agent\0session';
const QUESTIONS = ['Is the build green?', 'Who wrote the Odyssey?', 'Which way is north from here?'];
const ANSWERS = ['I do not know.', 'Homer, as far as anybody can tell.', 'Towards the pole.'];
const text = (texts: readonly string[]) => fc.constantFrom(...texts);

const request = (user_text: string): LlmRequest => ({
  model: 'm',
  stream: false,
  system_text: '',
  first_user_text: user_text,
  newest: { user_text, tool_results: [], attachment_digests: [] },
  output_tokens_max: null,
  message_count: 1,
});
const answer = (text: string) => buildLlmAnswer({ text });

function agent() {
  const windows = new KillSwitchWindows({ clock: new FakeClock() });
  let serial = 0;
  return {
    ask(question: string) {
      serial += 1;
      const observed = {
        call_id: `${serial}`,
        at_ms: 0,
        request: request(question),
        is_retry: false,
        role: '',
        wordsSince: () => '',
      };
      const { kind, breakdown } = windows.observe(KEY, KILL_SWITCH_DEFAULTS, observed);
      return { id: `${serial}`, isStopped: kind === 'block', score: breakdown.score };
    },
    hear: (id: string, said: string) => windows.recordAnswer(KEY, id, answer(said)),
    fail: (id: string) => windows.drop(KEY, id),
  };
}

/** A question, what is answered to it, and how often it is asked at once. */
const round = fc.record({
  question: text(QUESTIONS),
  said: text(ANSWERS),
  /** Of attempts beyond the first: whether each is answered too, and before it; null: it fails. */
  others: fc.array(fc.option(fc.boolean(), { nil: null }), { maxLength: 10 }),
});
const rounds = fc.array(round, { maxLength: 10 });

describe('requests that overlap', () => {
  it('[KS-7.6] score as one, however many are asked at once, in which order they are answered, and which of them fail', () => {
    fc.assert(
      fc.property(rounds, (all) => {
        const [voting, plain] = [agent(), agent()];
        for (const { question, said, others } of all) {
          const one = plain.ask(question);
          const first = voting.ask(question);
          const further = others.map((how) => ({ how, ...voting.ask(question) }));
          for (const attempt of [first, ...further]) {
            expect(attempt.score).toBe(one.score);
            expect(attempt.isStopped).toBe(one.isStopped);
          }
          if (one.isStopped) return;
          plain.hear(one.id, said);
          for (const { how, id } of further) if (how === true) voting.hear(id, said);
          voting.hear(first.id, said);
          for (const { how, id } of further) how === null ? voting.fail(id) : how || voting.hear(id, said);
        }
      }),
    );
  });

  it('[KS-7.6] never score more than those asked one after another', () => {
    // Each step: ask one of the questions, or hear the answer to one that waits.
    const steps = fc.array(fc.oneof(text(QUESTIONS), fc.nat(9)), { maxLength: 40 });
    fc.assert(
      fc.property(steps, text(ANSWERS), (all, said) => {
        const [overlapping, plain] = [agent(), agent()];
        const waiting: string[] = [];
        for (const one of all) {
          if (typeof one === 'number') {
            const [id] = waiting.splice(one % Math.max(1, waiting.length), 1);
            if (id !== undefined) overlapping.hear(id, said);
            continue;
          }
          const asked = overlapping.ask(one);
          const sequential = plain.ask(one);
          expect(asked.score).toBeLessThanOrEqual(sequential.score);
          if (sequential.isStopped) return;
          waiting.push(asked.id);
          plain.hear(sequential.id, said);
        }
      }),
    );
  });

  it('[KS-7.6] are stopped where more than a vote of 64 is under way at once, whatever became of others', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 40 }), (failing) => {
        const flood = agent();
        const underWay: string[] = [];
        const askOnce = () => {
          const { id, isStopped, score } = flood.ask('Is the build green?');
          if (!isStopped) underWay.push(id);
          expect(score).toBe(Math.max(0, underWay.length + Number(isStopped) - 64));
          return isStopped;
        };
        for (let count = 0; count < 40; count += 1) askOnce();
        for (const at of failing) for (const id of underWay.splice(at, 1)) flood.fail(id);
        while (!askOnce()) expect(underWay.length).toBeLessThanOrEqual(64 + 10);
        expect(underWay).toHaveLength(64 + 10);
      }),
    );
  });

  it('[KS-7.6] are stopped all the same where the agent never waits for an answer, and goes on and on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), (answeredAfter) => {
        const loop = agent();
        const ids: string[] = [];
        const requestCountMax = 6 * (answeredAfter + 1);
        for (let count = 1; count <= requestCountMax; count += 1) {
          const { id, isStopped } = loop.ask('Is the build green?');
          if (isStopped) return;
          ids.push(id);
          const answered = ids[ids.length - 1 - answeredAfter];
          if (answered !== undefined) loop.hear(answered, 'I do not know.');
        }
        expect.unreachable('was never stopped');
      }),
    );
  });
});
