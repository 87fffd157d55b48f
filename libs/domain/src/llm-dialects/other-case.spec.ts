import { describe, expect, it } from 'vitest';
import { nameInOtherCase } from './other-case.js';

const asked = { role: 'user', content: 'Hello' };

describe('nameInOtherCase', () => {
  it.each([
    ['Messages', { model: 'm', Messages: [asked] }],
    ['MODEL', { messages: [asked], MODEL: 'm' }],
    ['Max_Tokens', { messages: [asked], Max_Tokens: 1 }],
    ['Content', { messages: [asked, { role: 'user', Content: 'Hello' }] }],
    ['Text', { messages: [{ role: 'user', content: [{ type: 'text', Text: 'Hello' }] }] }],
    ['Function', { messages: [{ role: 'assistant', tool_calls: [{ id: '1', Function: {} }] }] }],
    ['Output', { input: [{ type: 'function_call_output', call_id: '1', Output: 'ok' }] }],
  ])('finds %s', (name, body) => {
    expect(nameInOtherCase(body)).toBe(name);
  });

  it.each([
    [
      {
        model: 'm',
        messages: [asked, { role: 'user', content: [{ type: 'text', text: 'Model: Messages' }] }],
      },
    ],
    // Names that an agent chose, and the names of Gemini's API.
    [
      {
        messages: [asked],
        tools: [{ type: 'function', function: { name: 'f', parameters: { Content: {} } } }],
      },
    ],
    [{ messages: [asked], metadata: { Model: 'x' }, serviceTier: 'auto', Seed: 1 }],
    [
      {
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        systemInstruction: {},
        generationConfig: {},
      },
    ],
    [{ messages: 'none', input: [null, 'text', ['x']] }],
  ])('finds nothing in %o', (body) => {
    expect(nameInOtherCase(body)).toBeNull();
  });
});
