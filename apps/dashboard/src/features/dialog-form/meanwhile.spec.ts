import { expect, test } from 'vitest';
import { meanwhileText } from './meanwhile';

const RULE = { id: 'r1', name: 'Nights', firing: false, updated_by: 'ana' };
const textOf = (opened: typeof RULE | null, things: (typeof RULE)[] | undefined) =>
  meanwhileText({
    opened,
    things,
    isSame: (one, other) => one.id === other.id,
    formOf: ({ name }) => name,
    noun: 'rule',
  });

test('what somebody else did to the thing in a dialog is said, and nothing else', () => {
  expect(textOf(RULE, [{ ...RULE, firing: true, updated_by: 'bo' }])).toBeNull();
  expect(textOf(RULE, [{ ...RULE, name: 'Days', updated_by: 'bo' }])).toContain('changed by bo');
  expect(textOf(RULE, [{ ...RULE, id: 'r2' }])).toContain('rule was deleted meanwhile');
});

test('of a new one, and before anything is read, nothing is said', () => {
  expect(textOf(null, [])).toBeNull();
  expect(textOf(RULE, undefined)).toBeNull();
});
