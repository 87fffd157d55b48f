import { expect, it } from 'vitest';
import { type Deferred, deferred } from '#kernel';
import { Checkpoints } from './checkpoints.js';
import { LOG_PAGES_MAX } from './database-file.js';

const PIECE_BYTES = 4 * 1024 * 1024;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('asks for one checkpoint at a time, and for the next though that one failed', async () => {
  const asked: Deferred[] = [];
  const link = {
    ask: async () => {
      const answer = deferred();
      asked.push(answer);
      await answer.promise;
      return { result: 0, durationMs: 0 };
    },
    close: async () => {},
  };
  const checkpoints = new Checkpoints(link, async () => {});
  checkpoints.committed(PIECE_BYTES / 2);
  expect(asked).toHaveLength(0);
  checkpoints.committed(PIECE_BYTES / 2);
  checkpoints.committed(PIECE_BYTES);
  expect(asked).toHaveLength(1);
  asked[0]?.reject(new Error('the thread is gone'));
  await nextTurn();
  checkpoints.committed(1);
  expect(asked).toHaveLength(2);
});

it('has the log begun anew once it is longer than it should be', async () => {
  let logPages = LOG_PAGES_MAX;
  let begunCount = 0;
  const link = { ask: async () => ({ result: logPages, durationMs: 0 }), close: async () => {} };
  const checkpoints = new Checkpoints(link, async () => {
    begunCount += 1;
  });
  checkpoints.committed(PIECE_BYTES);
  await nextTurn();
  expect(begunCount).toBe(0);
  logPages += 1;
  checkpoints.committed(PIECE_BYTES);
  await nextTurn();
  expect(begunCount).toBe(1);
});
