import { describe, expect, test } from 'vitest';
import { mediaExcessBytes } from './media-excess.js';

const LONG = 'iVBORw0K'.repeat(10_000);
/** Of a picture: all but 2,000 tokens of four bytes. */
const PICTURE = LONG.length - 8_000;
const url = (type: string) => `data:${type};base64,${LONG}`;
const inMessage = (...content: unknown[]) => ({ model: 'm', messages: [{ role: 'user', content }] });

describe('a picture', () => {
  test.each<[string, unknown]>([
    ['Chat Completions', inMessage({ type: 'image_url', image_url: { url: url('image/png') } })],
    [
      'Responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url('image/png') }] }] },
    ],
    [
      'Responses, as a screenshot',
      {
        input: [
          {
            type: 'computer_call_output',
            output: { type: 'computer_screenshot', image_url: url('image/PNG') },
          },
        ],
      },
    ],
  ])('of %s is no text, beside its name', (_, body) => {
    expect(mediaExcessBytes(body)).toBe(PICTURE + 'data:image/png;base64,'.length);
  });

  const source = { type: 'base64', media_type: 'image/jpeg', data: LONG };
  test.each<[string, unknown]>([
    ['Messages', inMessage({ type: 'image', source })],
    [
      "Messages, in a tool's result",
      inMessage({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] }),
    ],
    [
      'interactions',
      { input: [{ type: 'user_input', content: [{ type: 'image', data: LONG, mime_type: 'image/png' }] }] },
    ],
    ['interactions, by itself', { input: { type: 'image', data: LONG, mime_type: 'image/png' } }],
    [
      "interactions, in a function's result",
      {
        input: [
          {
            type: 'function_result',
            call_id: 'c',
            result: [{ type: 'image', data: LONG, mime_type: 'image/png' }],
          },
        ],
      },
    ],
    [
      'generateContent',
      {
        contents: [
          { parts: [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: LONG } }] },
        ],
      },
    ],
    [
      "generateContent, in a function's response",
      {
        contents: [
          {
            parts: [{ functionResponse: { parts: [{ inlineData: { mimeType: 'image/png', data: LONG } }] } }],
          },
        ],
      },
    ],
    [
      'generateContent, in snakes',
      { contents: { parts: [{ inline_data: { mime_type: 'image/png', data: LONG } }] } },
    ],
  ])('of %s is no text', (_, body) => {
    expect(mediaExcessBytes(body)).toBe(PICTURE);
  });

  test('counts for itself among several, and a small one not at all', () => {
    const one = { type: 'image', source };
    const small = { type: 'image', source: { ...source, data: 'iVBORw0K' } };
    expect(mediaExcessBytes(inMessage(one, small, one))).toBe(2 * PICTURE);
  });
});

test('a recording takes its bytes by the second', () => {
  const heard = { type: 'input_audio', input_audio: { data: LONG, format: 'mp3' } };
  expect(mediaExcessBytes(inMessage(heard))).toBe(LONG.length - (LONG.length / 64) * 4);
});

test.each<[string, unknown]>([
  ['a text that is a picture to whoever reads it', { type: 'text', text: url('image/png') }],
  ['what a call brings', { type: 'tool_use', input: { media_type: 'image/png', data: LONG } }],
  ['a document', { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: LONG } }],
  ['a file', { type: 'file', file: { file_data: url('application/pdf') } }],
  ['an address', { type: 'image_url', image_url: { url: `https://example.org/${LONG}` } }],
])('%s is as long as it is', (_, part) => {
  expect(mediaExcessBytes(inMessage(part))).toBe(0);
});
