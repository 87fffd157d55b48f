import { expect, it } from 'vitest';
import { type Deferred, deferred } from '#kernel';
import { Checkpoints } from './checkpoints.js';

const PIECE_BYTES = 4 * 1024 * 1024;

it('asks for one checkpoint at a time, and for the next though that one failed', async () => {
  const asked: Deferred[] = [];
  const checkpoints = new Checkpoints({
    ask: async () => {
      const answer = deferred();
      asked.push(answer);
      await answer.promise;
      return { result: null, durationMs: 0 };
    },
    close: async () => {},
  });
  checkpoints.committed(PIECE_BYTES / 2);
  expect(asked).toHaveLength(0);
  checkpoints.committed(PIECE_BYTES / 2);
  checkpoints.committed(PIECE_BYTES);
  expect(asked).toHaveLength(1);
  asked[0]?.reject(new Error('the thread is gone'));
  await new Promise((resolve) => setImmediate(resolve));
  checkpoints.committed(1);
  expect(asked).toHaveLength(2);
});
