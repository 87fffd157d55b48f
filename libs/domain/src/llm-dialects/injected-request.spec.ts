/** What a guard has written into is still what the vendors' own SDKs call a request: `satisfies` is checked by `npm run typecheck`. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Content, Tool } from '@google/genai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { DIALECT_BY_NAME } from './index.js';

const HINT = 'You have asked this before. Try another way.';
const QUESTION = 'Where is order 4711?';
const CALL_ID = 'call_1';
const RESULT = '{"state":"late"}';
const SCHEMA = { type: 'object' as const, properties: { id: { type: 'string' } }, required: ['id'] };

describe('a request with an injected text, in the types of', () => {
  it('the openai SDK, Chat Completions', () => {
    const rest = [
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: CALL_ID, type: 'function', function: { name: 'find', arguments: '{"id":"4711"}' } },
        ],
      },
      { role: 'tool', tool_call_id: CALL_ID, content: RESULT },
      { role: 'user', content: QUESTION },
    ] satisfies OpenAI.ChatCompletionMessageParam[];
    const messages = [
      { role: 'developer', content: 'You are terse.' },
      ...rest,
    ] satisfies OpenAI.ChatCompletionMessageParam[];
    const request = {
      model: 'gpt-4o-mini',
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'find', parameters: SCHEMA } }],
      messages,
    } satisfies OpenAI.ChatCompletionCreateParams;
    const injected = {
      ...request,
      messages: [{ role: 'developer', content: `You are terse.\n\n${HINT}` }, ...rest],
    } satisfies OpenAI.ChatCompletionCreateParams;
    const { injectSystem } = DIALECT_BY_NAME['openai-chat'];
    expect(injectSystem(request, HINT)).toEqual(injected);
    const begun = {
      ...request,
      messages: [{ role: 'system', content: HINT }, ...rest],
    } satisfies OpenAI.ChatCompletionCreateParams;
    expect(injectSystem({ ...request, messages: rest }, HINT)).toEqual(begun);
  });

  it('the openai SDK, Responses', () => {
    const request = {
      model: 'gpt-4o-mini',
      instructions: 'You are terse.',
      tools: [{ type: 'function', name: 'find', parameters: SCHEMA, strict: true }],
      input: [
        { role: 'user', content: [{ type: 'input_text', text: QUESTION }] },
        { type: 'function_call', call_id: CALL_ID, name: 'find', arguments: '{"id":"4711"}' },
        { type: 'function_call_output', call_id: CALL_ID, output: RESULT },
        { role: 'user', content: QUESTION },
      ],
    } satisfies OpenAI.Responses.ResponseCreateParams;
    const injected = {
      ...request,
      instructions: `You are terse.\n\n${HINT}`,
    } satisfies OpenAI.Responses.ResponseCreateParams;
    expect(DIALECT_BY_NAME['openai-responses'].injectSystem(request, HINT)).toEqual(injected);
    const { instructions: _, ...bare } = request;
    const begun = { ...bare, instructions: HINT } satisfies OpenAI.Responses.ResponseCreateParams;
    expect(DIALECT_BY_NAME['openai-responses'].injectSystem(bare, HINT)).toEqual(begun);
  });

  it('the Anthropic SDK', () => {
    const request = {
      model: 'claude-sonnet-4-5',
      max_tokens: 200,
      stream: true,
      tools: [{ name: 'find', input_schema: SCHEMA }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: QUESTION }] },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: CALL_ID, name: 'find', input: { id: '4711' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: CALL_ID, content: RESULT },
            { type: 'text', text: QUESTION },
          ],
        },
      ],
    } satisfies Anthropic.MessageCreateParams;
    const cached = { type: 'text', text: 'You are terse.', cache_control: { type: 'ephemeral' } } as const;
    const { injectSystem } = DIALECT_BY_NAME.anthropic;
    const none = { ...request, system: HINT } satisfies Anthropic.MessageCreateParams;
    const text = { ...request, system: `You are terse.\n\n${HINT}` } satisfies Anthropic.MessageCreateParams;
    const blocks = {
      ...request,
      system: [cached, { type: 'text', text: HINT }],
    } satisfies Anthropic.MessageCreateParams;
    expect(injectSystem(request, HINT)).toEqual(none);
    expect(injectSystem({ ...request, system: 'You are terse.' }, HINT)).toEqual(text);
    expect(injectSystem({ ...request, system: [cached] }, HINT)).toEqual(blocks);
  });

  it('the Anthropic SDK, behind the newest message where the vendor keeps the rest as it was begun', () => {
    const result = { type: 'tool_result' as const, tool_use_id: CALL_ID, content: RESULT };
    const words = { type: 'text' as const, text: HINT };
    const { injectSystem } = DIALECT_BY_NAME.anthropic;
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }] as const) {
      const request = (message: Anthropic.Beta.BetaMessageParam) =>
        ({
          model: 'claude-opus-5-5',
          max_tokens: 200,
          thread,
          system: 'You are terse.',
          messages: [message],
        }) satisfies Anthropic.Beta.MessageCreateParams;
      const given = request({ role: 'user', content: [result] });
      expect(injectSystem(given, HINT)).toEqual(request({ role: 'user', content: [result, words] }));
      const asked = request({ role: 'user', content: QUESTION });
      const text = { type: 'text' as const, text: QUESTION };
      expect(injectSystem(asked, HINT)).toEqual(request({ role: 'user', content: [text, words] }));
      const told = request({ role: 'system', content: 'It is late.' });
      expect(injectSystem(told, HINT)).toEqual(
        request({ role: 'system', content: [{ type: 'text', text: 'It is late.' }, words] }),
      );
      const prefilled = request({ role: 'assistant', content: 'The order' });
      expect(injectSystem(prefilled, HINT)).toBe(prefilled);
      const odd = { ...asked, messages: [7] };
      expect(injectSystem(odd, HINT)).toBe(odd);
    }
  });

  /** The SDK's parameters are not what goes over the wire; its types of the parts are. */
  it('the Google SDK', () => {
    interface Wire {
      contents: Content[];
      systemInstruction?: Content;
      tools?: Tool[];
    }
    const request = {
      tools: [{ functionDeclarations: [{ name: 'find', parametersJsonSchema: SCHEMA }] }],
      contents: [
        { role: 'user', parts: [{ text: QUESTION }] },
        { role: 'model', parts: [{ functionCall: { name: 'find', args: { id: '4711' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'find', response: { state: 'late' } } }] },
        { role: 'user', parts: [{ text: QUESTION }] },
      ],
    } satisfies Wire;
    const { injectSystem } = DIALECT_BY_NAME.gemini;
    const none = { ...request, systemInstruction: { parts: [{ text: HINT }] } } satisfies Wire;
    const more = {
      ...request,
      systemInstruction: { role: 'user', parts: [{ text: 'You are terse.' }, { text: HINT }] },
    } satisfies Wire;
    const terse = { role: 'user', parts: [{ text: 'You are terse.' }] };
    expect(injectSystem(request, HINT)).toEqual(none);
    expect(injectSystem({ ...request, systemInstruction: terse }, HINT)).toEqual(more);
  });
});
