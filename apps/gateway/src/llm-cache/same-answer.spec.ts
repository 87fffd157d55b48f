import { describe, expect, test } from 'vitest';
import { COMPARED_CHARS_MAX, sameAnswer } from './same-answer.js';

const likeness = { cosine: async () => 0.95, differs: () => false };
const say = (text: string, calls: { name: string; arguments: string }[] = []) => ({
  text,
  tool_calls: calls.map((call, index) => ({ id: `id-${Math.random()}-${index}`, ...call })),
});

describe('sameAnswer', () => {
  test('sees through case, white space, punctuation and the ids of tool calls', async () => {
    const ask = { ...likeness, cosine: async () => 0 };
    expect(await sameAnswer(say('Paris.'), say(' paris'), ask)).toBe(true);
    const one = say('', [{ name: 'read', arguments: '{"path":"a","line":1}' }]);
    const other = say('', [{ name: 'read', arguments: '{"line":1,"path":"a"}' }]);
    expect(await sameAnswer(one, other, ask)).toBe(true);
  });

  test.each([
    ['-5', '5'],
    ['-$5', '$5'],
    ['$5', '€5'],
    ['10%', '10'],
    ['10 %', '10.'],
    ['1/2', '1.2'],
    ['3.5', '3,5'],
    ['0.5', '0 5'],
    ['5!', '5'],
    ['**5**!', '5'],
    ['!x', 'x'],
    ['x != y', 'x == y'],
    ['x - y', 'x + y'],
    ['a & b', 'a @ b'],
    ['a * (b + c)', 'a * b + c'],
    ['f(x)', 'f[x]'],
    ['print("a")', 'print(a)'],
    ['*.js', '.js'],
    ['C#', 'C'],
    ['The answer is -5.', 'The answer is 5.'],
  ])('has “%s” and “%s” for two answers, however near their words', async (one, other) => {
    expect(await sameAnswer(say(one), say(other), likeness)).toBe(false);
  });

  test.each([
    ['Yes, it is.', 'yes it is'],
    ['It is 10.', 'It is 10'],
    ['He said “yes.”', 'He said yes'],
    ['**Paris**', 'Paris!'],
    ['- Paris\n- Rome', 'Paris\nRome'],
    ['# Paris', '`Paris`'],
    ['Paris - the capital', 'Paris — the capital'],
    ['well-known', 'well known'],
    ['巴黎。', '巴黎'],
    ['It’s Paris', "It's Paris;"],
    ['-5.', '-5'],
    ['It is **Bern**.', 'It is Bern.'],
    ['It is __Bern__!', 'It is Bern'],
    ['Is it `open`?', 'is it open'],
    ['He said “yes”.', 'He said yes.'],
    ['It is **5**.', 'It is 5'],
  ])('has “%s” and “%s” for one', async (one, other) => {
    expect(await sameAnswer(say(one), say(other), { cosine: async () => 0, differs: () => true })).toBe(true);
  });

  // What takes longer with the square of the text runs into the test's time limit.
  test.each([' ', '-', '*', '. ', '"', 'a - ', '\n\t', '(a'])(
    'reads a long answer of “%s” to its end',
    async (unit) => {
      const long = unit.repeat((COMPARED_CHARS_MAX - 1) / unit.length);
      expect(await sameAnswer(say(long), say(`${long}x`), likeness)).not.toBeNull();
    },
  );

  test('puts no answer side by side that would keep everybody waiting: equal ones are the same, of others nobody can tell', async () => {
    const untold = {
      cosine: () => Promise.reject(new Error('asked')),
      differs: () => {
        throw new Error('asked');
      },
    };
    const longest = 'x'.repeat(COMPARED_CHARS_MAX);
    expect(await sameAnswer(say(longest), say(`${longest.slice(1)}.`), likeness)).toBe(true);
    const longer = `${longest}x`;
    expect(await sameAnswer(say(longer), say(longer), untold)).toBe(true);
    expect(await sameAnswer(say(longer), say(`${longer}.`), untold)).toBeNull();
    expect(await sameAnswer(say(longer), say('x'), untold)).toBeNull();
    const calls = [{ name: 'read', arguments: '{}' }];
    expect(await sameAnswer(say(longer), say(longer, calls), untold)).toBe(false);
  });

  test('takes other tool calls for another answer, whatever the text', async () => {
    const one = say('ok', [{ name: 'read', arguments: '{"path":"a"}' }]);
    const other = say('ok', [{ name: 'read', arguments: '{"path":"b"}' }]);
    expect(await sameAnswer(one, other, likeness)).toBe(false);
    expect(await sameAnswer(say('ok'), other, likeness)).toBe(false);
  });

  test('compares arguments that nest without end as they came', async () => {
    const deep = (depth: number) => [{ name: 'read', arguments: '['.repeat(depth) + ']'.repeat(depth) }];
    expect(await sameAnswer(say('', deep(20_000)), say('', deep(20_000)), likeness)).toBe(true);
    expect(await sameAnswer(say('', deep(20_000)), say('', deep(20_001)), likeness)).toBe(false);
  });

  test('leaves other words to their likeness, and what differs in what matters is different', async () => {
    const [one, other] = [say('The capital is Paris'), say('It is Paris')];
    expect(await sameAnswer(one, other, likeness)).toBe(true);
    expect(await sameAnswer(one, other, { ...likeness, cosine: async () => 0.5 })).toBe(false);
    expect(await sameAnswer(one, other, { ...likeness, differs: () => true })).toBe(false);
    expect(await sameAnswer(one, other, { ...likeness, cosine: async () => null })).toBeNull();
    expect(await sameAnswer(one, say(''), likeness)).toBe(false);
  });
});
