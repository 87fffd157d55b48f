import { describe, expect, test } from 'vitest';
import { sameAnswer } from './same-answer.js';

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
