import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyHash } from '#domain/decision-log';
import { partOf, traceKeyOf } from './step-key.js';
import { StepKeyFilter } from './step-key-filter.js';

const entry = fc.tuple(fc.nat(2 ** 44 - 1), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));

it('never denies what it was told, whatever its size, nor does one made of its bytes', () => {
  fc.assert(
    fc.property(fc.array(entry), fc.constantFrom(4, 512, 2 ** 18), (entries, stepsCount) => {
      const filter = new StepKeyFilter(stepsCount);
      for (const [key, part] of entries) filter.add(key, part);
      const again = new StepKeyFilter(stepsCount, filter.bytes);
      for (const [key, part] of entries) {
        expect(filter.mayHold(key, part)).toBe(true);
        expect(again.mayHold(key, part)).toBe(true);
      }
    }),
  );
});

it.each([
  { of: 'a trace to each step', keyOf: (step: number) => traceKeyOf('acme', `${step}`) },
  { of: 'one trace for all of them', keyOf: () => traceKeyOf('acme', 'all') },
])('is wrong about fewer than one in a hundred others when it is full, with $of', ({ keyOf }) => {
  const stepsCount = 2 ** 14;
  const filter = new StepKeyFilter(stepsCount);
  const partAt = (step: number) => partOf(bodyHash(`${step}`));
  for (let step = 0; step < stepsCount; step += 1) filter.add(keyOf(step), partAt(step));
  let wrong = 0;
  for (let step = stepsCount; step < 2 * stepsCount; step += 1)
    if (filter.mayHold(keyOf(step), partAt(step))) wrong += 1;
  expect(wrong).toBeLessThan(stepsCount / 100);
});
