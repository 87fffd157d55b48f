/** An answer as the readers give it: whole and without calls, with whatever a test cares about on top. */
import type { LlmAnswer } from '#contracts';

export const buildLlmAnswer = (overrides: Partial<LlmAnswer> = {}): LlmAnswer => ({
  model: 'm',
  text: 'Bern.',
  tool_calls: [],
  finish: 'stop',
  usage: null,
  failed: false,
  answer_id: null,
  lossless: true,
  ...overrides,
});
