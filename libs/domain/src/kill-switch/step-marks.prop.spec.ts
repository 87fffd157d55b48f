import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LlmRequest } from '#contracts';
import { answerPrint } from './answer-print.js';
import { handedOver, isSimilarPrompt, type PromptPrint, promptPrint } from './prompt-print.js';
import { scoreRequest } from './score.js';
import { StepMarks } from './step-marks.js';

const text = fc.constantFrom('', 'Is the build green?', 'Is the build green now?', 'Who wrote the Odyssey?');
const call = fc.record({ id: fc.constant(null), name: fc.constantFrom('read', 'find'), arguments: text });
const result = fc.record({
  call: fc.option(call, { nil: null }),
  text: fc.constantFrom('', '41 %', '42 %', 'not found'),
  failed: fc.boolean(),
});
const prompt: fc.Arbitrary<PromptPrint> = fc
  .record({
    user_text: text,
    tool_results: fc.array(result, { maxLength: 3 }),
    attachment_digests: fc.subarray(['picture']),
    said: fc.option(text, { nil: null }),
  })
  .map(({ said, ...newest }) => {
    const print = promptPrint({ newest } as unknown as LlmRequest, []);
    return said === null ? print : handedOver(print, said);
  });
const answer = answerPrint({ text: 'I do not know.', tool_calls: [] } as never);

it('[KS-7.1] misses no step that recurs, whatever came before it and has left', () => {
  let recurring = 0;
  fc.assert(
    fc.property(fc.array(prompt, { maxLength: 8 }), prompt, fc.nat(7), (all, newest, leaving) => {
      const marks = new StepMarks();
      for (const one of all) marks.push(one);
      const left = all.filter((_, index) => index !== leaving);
      if (leaving < all.length) marks.remove(leaving);
      const { matches } = scoreRequest(
        left.map((one) => ({ prompt: one, answer })),
        newest,
      );
      const recurs = matches.length > 0 || left.some((one) => isSimilarPrompt(one, newest));
      if (!recurs) return;
      recurring += 1;
      expect(marks.mayRecur(newest)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(recurring).toBeGreaterThan(100);
});

it('has nothing to look at among questions that are all different', () => {
  const marks = new StepMarks();
  const print = (user_text: string) =>
    promptPrint(
      { newest: { user_text, tool_results: [], attachment_digests: [] } } as unknown as LlmRequest,
      [],
    );
  marks.push(print('Is the build green?'));
  marks.push(print('Which way is north from here, and how far is the pole?'));
  expect(marks.mayRecur(print('Who wrote the Odyssey, and when?'))).toBe(false);
  expect(marks.mayRecur(print('is the build GREEN?'))).toBe(true);
});
