import { FakeClock } from '#testing';
import {
  CONFORMANCE_DIMENSION,
  promptHistoryConformance,
} from '../../../testing/src/prompt-history.conformance.js';
import { MemoryPromptHistory } from './memory-prompt-history.js';

promptHistoryConformance('in memory', async (options) => {
  const clock = new FakeClock();
  const history = new MemoryPromptHistory({ clock, dimension: CONFORMANCE_DIMENSION, ...options });
  await history.open();
  return {
    history,
    elapse: async (ms) => void clock.advance(ms),
    close: () => history.close(),
  };
});
