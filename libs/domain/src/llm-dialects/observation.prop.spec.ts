import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LlmToolResult } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const turnOf = (messages: object[]) =>
  DIALECT_BY_NAME['openai-chat'].readRequest({ messages }, '/chat/completions').newest;
const asked = { role: 'user', content: 'Read the meter.' };
const told = (result: LlmToolResult | undefined) => ({ ...result, call: { ...result?.call, id: null } });

const name = fc.stringMatching(/^[a-z][a-z_]{0,11}$/);
const args = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
const result = fc.string({ unit: 'grapheme' }).map((text) => text.trim());

describe('a call and its result written as text', () => {
  it('are read as those with tools are, whatever is called with whatever and comes back', () => {
    fc.assert(
      fc.property(name, args, result, (called, given, came) => {
        const calls = [{ id: 'c', type: 'function', function: { name: called, arguments: given } }];
        const byTools = turnOf([
          asked,
          { role: 'assistant', content: null, tool_calls: calls },
          { role: 'tool', tool_call_id: 'c', content: came },
        ]);
        const byText = turnOf([
          asked,
          { role: 'assistant', content: `Thought: on.\nAction: ${called}\nAction Input: ${given}` },
          { role: 'user', content: `Observation: ${came}` },
        ]);
        expect(told(byText.observation)).toEqual(told(byTools.tool_results[0]));
      }),
    );
  });
});
