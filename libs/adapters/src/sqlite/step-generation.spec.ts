import { expect, it } from 'vitest';
import { StepGeneration } from './step-generation.js';
import { NO_PART, partOf, sessionKeyOf, traceKeyOf } from './step-key.js';

const GREATEST_KEY = 2 ** 44 - 1;

it('gives two entries to each step, in the order of the table', () => {
  const generation = new StepGeneration();
  const expected: [number, number, number][] = [];
  const add = (seq: number, sessionKey: number, traceKey: number, part: number) => {
    generation.add(seq, `step ${seq}`, sessionKey, traceKey, part);
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
