import { describe, expect, it } from 'vitest';
import { DIALECT_BY_NAME } from './index.js';

const newest = (messages: object[]) =>
  DIALECT_BY_NAME['openai-chat'].readRequest({ messages }, '/chat/completions').newest;
const asked = { role: 'user', content: 'Read the meter.' };
const wrote = (content: string) => ({ role: 'assistant', content });
const told = (content: string) => ({ role: 'user', content });
const callIn = (words: string) =>
  newest([asked, wrote(words), told('Observation: 41')]).observation?.call ?? null;

describe('an observation', () => {
  it('is what a tool came back with, where the model wrote a call before it', () => {
    const { user_text, tool_results, observation } = newest([
      asked,
      wrote('Thought: hm\nAction: read\nAction Input: {"meter": 1}'),
      told('Observation:\nError: no such meter'),
    ]);
    expect(observation).toEqual({
      call: { id: null, name: 'read', arguments: '{"meter": 1}' },
      text: 'Error: no such meter',
      failed: true,
    });
    expect([user_text, tool_results]).toEqual(['Observation:\nError: no such meter', []]);
  });

  it.each([
    ['an action and its input', 'Action: read\nAction Input: {"n": 1}', 'read', '{"n": 1}'],
    ['the latest of two', 'Action: a\nAction Input: 1\nAction: b\nAction Input: 2', 'b', '2'],
    ['an action in one', 'I look.\nAction: Search[meters]', 'action', 'Search[meters]'],
    ['an action as JSON', 'Action:\n{"name": "read"}', 'action', '{"name": "read"}'],
    ['a block of code', 'So:\n```py\nread(1)\n```\nWell.', 'code', '```py\nread(1)\n```\nWell.'],
    ['the last block of two', '```\na\n```\n```\nb\n```', 'code', '```\nb\n```'],
    ['a block that was cut off', 'So:\n```py\nread(1)', 'code', '```py\nread(1)'],
    ['code in tags', 'So:\n<code>\nread(1)\n</code>', 'code', '<code>\nread(1)\n</code>'],
    [
      'a list of calls, whatever their ids, but for those among the arguments',
      "```\nread\n```\nCalling tools:\n[{'id': 'call_7', 'type': 'function', 'function': {'name': 'read', 'arguments': {'id': '9'}}}]",
      'tools',
      "[{'type': 'function', 'function': {'name': 'read', 'arguments': {'id': '9'}}}]",
    ],
  ])('of %s', (_, words, name, args) => {
    expect(callIn(words)).toEqual({ id: null, name, arguments: args });
  });

  it.each(['', `${'I know nothing yet. '.repeat(20)}\n`])(
    'may stand behind the words of the model, %j',
    (thought) => {
      const first = `${thought}Action: read\nAction Input: 1\nObservation: 40`;
      const second = `${thought}Action: read\nAction Input: 2\nObservation: 41\nThought: `;
      const found = (args: string, text: string) => ({
        user_text: '',
        tool_results: [],
        attachment_digests: [],
        observation: { call: { id: null, name: 'read', arguments: args }, text, failed: false },
      });
      expect(newest([asked, wrote(first)])).toEqual(found('1', '40'));
      expect(newest([asked, wrote(first), wrote(second)])).toEqual(found('2', '41'));
      expect(newest([asked, wrote(`${first}\n${second}`)])).toEqual(found('2', '41'));
    },
  );

  it('may stand in the one message of an agent, behind its question', () => {
    const prompt =
      'Action: one of [read]\nAction Input: its input\nObservation: what came\n\nBegin!\n\nQuestion: How far?\nThought:';
    const step = (text: string) => `hm\nAction: read\nAction Input: 1\nObservation: ${text}\nThought: `;
    expect(newest([told(prompt)])).toMatchObject({ user_text: prompt });
    expect(newest([told(prompt)]).observation).toBeUndefined();
    const { user_text, observation } = newest([told(`${prompt}${step('40')}${step('41')}`)]);
    expect(user_text).toBe('');
    expect(observation).toEqual({
      call: { id: null, name: 'read', arguments: '1' },
      text: '41',
      failed: false,
    });
  });

  it('is none in words that the client has the model begin with', () => {
    const { user_text, observation } = newest([asked, wrote('Observation: ')]);
    expect([user_text, observation]).toEqual(['Read the meter.', undefined]);
  });

  it.each([
    ['nobody called for', [asked, wrote('It stands still.'), told('Observation: it does not.')]],
    ['nobody was asked for', [told('Observation: it moves.')]],
    ['is in the middle of a message', [asked, wrote('Action: read'), told('My Observation: 41')]],
    [
      'stands beside the result of a tool',
      [
        asked,
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'read' } }] },
        { role: 'tool', tool_call_id: 'c', content: '41' },
        told('Observation: it moves.'),
      ],
    ],
  ])('is none that %s', (_, messages) => {
    expect(newest(messages).observation).toBeUndefined();
  });
});
