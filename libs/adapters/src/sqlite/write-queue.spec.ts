import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildCallRow, buildStepRow } from '#testing';
import { type StepsResult, stepWidth } from './protocol.js';
import { callBatch } from './proxy/call-batch.js';
import { type WriteBatch, WriteQueue } from './write-queue.js';

const steps = (count: number) => Array.from({ length: count }, () => buildStepRow());

function takeAll(queue: WriteQueue): WriteBatch[] {
  const batches: WriteBatch[] = [];
  for (let batch = queue.take(); batch !== null; batch = queue.take()) batches.push(batch);
  return batches;
}

describe('WriteQueue', () => {
  it('gathers calls into one batch and one operation until it is taken', () => {
    const queue = new WriteQueue();
    void queue.appendSteps(steps(2));
    void queue.appendSteps(steps(3));
    expect(queue.count).toBe(5);
    const batch = queue.take();
    expect(batch?.operations).toMatchObject([{ kind: 'steps', rowCounts: [2, 3] }]);
    expect(queue).toMatchObject({ count: 5, pendingCount: 0 });
    expect(queue.take()).toBeNull();
  });

  it('keeps the order of writes of different kinds', () => {
    const queue = new WriteQueue();
    void queue.appendSteps(steps(1));
    void queue.call('appendAlert', '[]');
    void queue.saveSessions([], 3, []);
    void queue.appendSteps(steps(1));
    expect(queue.take()?.operations.map((operation) => operation.kind)).toEqual([
      'steps',
      'call',
      'sessions',
      'steps',
    ]);
  });

  it('counts LLM calls one by one, and answers a batch with the number of its first', async () => {
    const queue = new WriteQueue();
    const first = queue.appendCalls(callBatch([buildCallRow(), buildCallRow()]));
    const second = queue.appendCalls(callBatch([buildCallRow()]));
    expect(queue).toMatchObject({ count: 3, pendingCount: 3 });
    const batch = queue.take() as WriteBatch;
    queue.settle(batch, [
      { kind: 'done', value: 7 },
      { kind: 'done', value: 9 },
    ]);
    expect(await Promise.all([first, second])).toEqual([7, 9]);
    expect(queue).toMatchObject({ count: 0, bytes: 0, pendingCount: 0 });
  });

  it('never splits a call, and starts a new batch once one is large', () => {
    const queue = new WriteQueue();
    void queue.appendSteps(steps(3_000));
    void queue.appendSteps(steps(600));
    void queue.appendSteps(steps(600));
    void queue.appendSteps(steps(1));
    expect(takeAll(queue).map((batch) => batch.rowCount)).toEqual([3_000, 1_200, 1]);
  });

  it('refuses a row of the wrong type without harm to those around it', async () => {
    const queue = new WriteQueue();
    const before = queue.appendSteps(steps(1));
    const wrong = [buildStepRow(), { ...buildStepRow(), body: { not: 'text' } as unknown as string }];
    expect(() => queue.appendSteps(wrong)).toThrow('step row: body must be a string');
    const undated = [{ ...buildStepRow(), received_at_ms: 'noon' as unknown as number }];
    expect(() => queue.appendSteps(undated)).toThrow('step row: received_at_ms must be a number');
    const after = queue.appendSteps(steps(1));
    const batch = queue.take() as WriteBatch;
    expect(batch.operations).toMatchObject([{ rowCounts: [1, 1], values: { length: 2 * stepWidth } }]);
    queue.settle(batch, [{ kind: 'steps', steps: { firstSeq: 7, duplicates: null, failures: null } }]);
    expect(await Promise.all([before, after])).toEqual([
      [{ seq: 7, duplicate: false }],
      [{ seq: 8, duplicate: false }],
    ]);
    expect(queue).toMatchObject({ count: 0, bytes: 0, pendingCount: 0 });
  });

  it('rejects every call of a batch that was not kept', async () => {
    const queue = new WriteQueue();
    const settled = Promise.allSettled([queue.appendSteps(steps(2)), queue.call('probe', '[1]')]);
    queue.reject(queue.take() as WriteBatch, new Error('no room'));
    expect((await settled).map((each) => each.status)).toEqual(['rejected', 'rejected']);
    expect(queue).toMatchObject({ count: 0, bytes: 0 });
  });

  it('gives each call its own results, whatever is a duplicate and whichever calls fail', async () => {
    const call = fc.record({
      failed: fc.boolean(),
      duplicates: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 20, size: 'max' }), async (calls) => {
        const queue = new WriteQueue();
        const settled = Promise.allSettled(
          calls.map(({ duplicates }) => queue.appendSteps(steps(duplicates.length))),
        );
        const result: StepsResult = { firstSeq: 100, duplicates: [], failures: [] };
        const expected: unknown[] = [];
        let row = 0;
        let seq = 100;
        for (const { failed, duplicates } of calls) {
          result.failures?.push(failed ? { reason: 'failed', detail: 'at fault' } : null);
          const commits = duplicates.map((duplicate, at) => {
            if (duplicate && !failed) result.duplicates?.push(row + at, row + at);
            if (duplicate) return { seq: row + at, duplicate };
            return { seq: failed ? 0 : seq++, duplicate };
          });
          expected.push(failed ? { status: 'rejected' } : { status: 'fulfilled', value: commits });
          row += duplicates.length;
        }
        queue.settle(queue.take() as WriteBatch, [{ kind: 'steps', steps: result }]);
        expect(await settled).toMatchObject(expected);
      }),
    );
  });
});
