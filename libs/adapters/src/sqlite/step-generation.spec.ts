import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StepGeneration } from './step-generation.js';
import { NO_PART, partOf, sessionKeyOf, traceKeyOf } from './step-key.js';

const GREATEST_KEY = 2 ** 44 - 1;

it('gives two entries to each step, in the order of the table', () => {
  const generation = new StepGeneration();
  const expected: [number, number, number][] = [];
  const add = (seq: number, sessionKey: number, traceKey: number, part: number) => {
    generation.add(seq, sessionKey, traceKey, part);
    expected.push([sessionKey, NO_PART, seq], [traceKey, part, seq]);
  };
  add(1, GREATEST_KEY, 0, -7);
  for (let seq = 2; seq <= 500; seq += 1)
    add(seq, sessionKeyOf('acme', `s${seq % 5}`), traceKeyOf('acme', `t${seq}`), partOf(`hash${seq}`));
  const entryAt = generation.sorted();
  const entries = Array.from({ length: generation.count * 2 }, (_, index) => entryAt(index));
  // Of one session in the order in which they came.
  expect(entries).toEqual(expected.toSorted((one, other) => one[0] - other[0]));
});

it('finds the steps of a trace and part, and none that it was made to forget, however many come and go', () => {
  // Few keys, so that many steps share one; enough steps that the table grows.
  const key = fc.integer({ min: 0, max: 40 }).map((at) => traceKeyOf('acme', `t${at}`));
  const part = fc.integer({ min: -2, max: 2 });
  const run = fc.record({
    key,
    part,
    count: fc.integer({ min: 1, max: 900 }),
    undone: fc.integer({ min: 0, max: 900 }),
  });
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 12 }), (runs) => {
      const generation = new StepGeneration();
      const stored: { seq: number; key: number; part: number }[] = [];
      let seq = 1;
      for (const each of runs) {
        for (let at = 0; at < each.count; at += 1, seq += 1) {
          const step = { seq, key: each.key + (at % 7), part: each.part };
          generation.add(seq, 0, step.key, step.part);
          stored.push(step);
        }
        seq = Math.max(1, seq - each.undone);
        stored.length = seq - 1;
        generation.cutFrom(seq);
      }
      expect(generation.count).toBe(stored.length);
      const seqsOf = (wanted: { key: number; part: number }) => {
        const seqs: number[] = [];
        generation.find(wanted.key, wanted.part, (found) => seqs.push(found) === 0);
        return seqs.sort((one, other) => one - other);
      };
      for (const each of runs) {
        const isIt = (step: { key: number; part: number }) =>
          step.key === each.key && step.part === each.part;
        expect(seqsOf(each)).toEqual(stored.filter(isIt).map((step) => step.seq));
      }
    }),
    { numRuns: 30 },
  );
});
