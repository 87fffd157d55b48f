import { describe, expect, it } from 'vitest';
import type { DialectName } from '#contracts';
import { DIALECT_BY_NAME, readsRemoteContent } from './index.js';

const PATHS: Record<DialectName, string> = {
  'openai-chat': '/chat/completions',
  'openai-responses': '/responses',
  anthropic: '/v1/messages',
  gemini: '/v1beta/models/m:generateContent',
  'gemini-interactions': '/v1beta/interactions',
};
const URL = 'https://cam.example/gate.jpg';
const FUNCTION = { type: 'function', function: { name: 'f' } };
const DATA = 'data:image/jpeg;base64,AAAA';
const FILES = 'https://generativelanguage.googleapis.com/v1beta/files/abc';

const reads = (name: DialectName, body: object) =>
  readsRemoteContent(DIALECT_BY_NAME[name].canonicalRequest(body, PATHS[name]));
const chat = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const responses = (...content: object[]) => ({ input: [{ role: 'user', content }] });
const output = (output: unknown) => ({ input: [{ type: 'function_call_output', call_id: 'c', output }] });
const messages = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const gemini = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] });
const interactions = (...input: object[]) => ({ input });
const source = (source: object, type = 'image') => ({ type, source });

describe('a request that has the vendor fetch something', () => {
  it.each<[string, DialectName, object]>([
    ['an image', 'openai-chat', chat({ type: 'image_url', image_url: { url: URL } })],
    ['an image, spelled shortly', 'openai-chat', chat({ type: 'image_url', image_url: ` ${URL}` })],
    ['an image in capitals', 'openai-chat', chat({ type: 'image_url', image_url: { url: 'HTTP://x/y' } })],
    ['a video', 'openai-chat', chat({ type: 'video_url', video_url: { url: URL } })],
    ['a file', 'openai-chat', chat({ type: 'file', file: { filename: 'f', file_data: URL } })],
    ['a document', 'openai-chat', chat({ type: 'document_url', document_url: URL })],
    ['a recording', 'openai-chat', chat({ type: 'input_audio', input_audio: URL })],
    ['a recording in its data', 'openai-chat', chat({ type: 'input_audio', input_audio: { data: URL } })],
    ['a video in pictures', 'openai-chat', chat({ type: 'video', video: [DATA, URL] })],
    [
      'a search of the vendor’s',
      'openai-chat',
      { tools: [FUNCTION, { type: 'web_search', web_search: {} }] },
    ],
    ['a clock of the vendor’s', 'openai-chat', { tools: [{ type: 'openrouter:datetime' }] }],
    [
      'an image earlier in the conversation',
      'openai-chat',
      {
        messages: [
          ...chat({ type: 'image_url', image_url: { url: URL } }).messages,
          { role: 'assistant', content: 'Open.' },
          { role: 'user', content: 'And now?' },
        ],
      },
    ],
    [
      'an image in the system prompt',
      'openai-chat',
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: URL } }] }] },
    ],
    ['an image', 'openai-responses', responses({ type: 'input_image', image_url: URL })],
    ['a file', 'openai-responses', responses({ type: 'input_file', file_url: URL })],
    ['an image as a result', 'openai-responses', output([{ type: 'input_image', image_url: URL }])],
    ['a screenshot', 'openai-responses', output({ type: 'computer_screenshot', image_url: URL })],
    ['an image', 'anthropic', messages(source({ type: 'url', url: URL }))],
    ['a document', 'anthropic', messages(source({ type: 'url', url: URL }, 'document'))],
    [
      'an image as a result',
      'anthropic',
      messages({
        type: 'tool_result',
        tool_use_id: 'c',
        content: [source({ type: 'content', content: [source({ type: 'url', url: URL })] }, 'document')],
      }),
    ],
    ['a file', 'gemini', gemini({ fileData: { fileUri: URL } })],
    ['a file, in the other spelling', 'gemini', gemini({ file_data: { file_uri: 'gs://bucket/object' } })],
    [
      'a file as a result',
      'gemini',
      gemini({ functionResponse: { name: 'f', parts: [{ fileData: { fileUri: URL } }] } }),
    ],
    ['a document', 'gemini-interactions', interactions({ type: 'document', uri: URL })],
    [
      'an image of a tool',
      'gemini-interactions',
      interactions({ type: 'function_result', call_id: 'c', result: [{ type: 'image', uri: 'gs://b/o' }] }),
    ],
    ['a single part', 'gemini', { contents: { parts: { fileData: { fileUri: URL } } } }],
    [
      'a file that looks like one of the vendor’s',
      'gemini',
      gemini({ fileData: { fileUri: FILES.replace('.com/', '.com.example/') } }),
    ],
  ])('is found by %s in %s', (_, name, body) => {
    expect(reads(name, body)).toBe(true);
  });

  it.each<[string, DialectName, object]>([
    ['a text about an address', 'openai-chat', chat({ type: 'text', text: URL })],
    ['an image inside', 'openai-chat', chat({ type: 'image_url', image_url: { url: DATA } })],
    ['a file kept there', 'openai-chat', chat({ type: 'file', file: { file_id: 'file_1' } })],
    ['a file inside', 'openai-chat', chat({ type: 'file', file: { file_data: DATA } })],
    ['a recording inside', 'openai-chat', chat({ type: 'input_audio', input_audio: { data: 'AAAA' } })],
    ['a video inside', 'openai-chat', chat({ type: 'video', video: [DATA] })],
    ['a tool of the caller’s', 'openai-chat', { tools: [FUNCTION, { function: {} }, { type: 'custom' }] }],
    ['a tool whose runs are told', 'openai-responses', { tools: [{ type: 'web_search' }] }],
    [
      'an argument of a call',
      'openai-chat',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', function: { name: 'f', arguments: `{"image_url":"${URL}"}` } }],
          },
        ],
      },
    ],
    ['an image inside', 'openai-responses', responses({ type: 'input_image', image_url: DATA })],
    ['a file kept there', 'openai-responses', responses({ type: 'input_file', file_id: 'file_1' })],
    ['a result about one', 'openai-responses', output(`{"image_url":"${URL}"}`)],
    ['an image inside', 'anthropic', messages(source({ type: 'base64', data: 'AAAA' }))],
    ['a file kept there', 'anthropic', messages(source({ type: 'file', file_id: 'file_1' }))],
    [
      'an argument of a call',
      'anthropic',
      messages({
        type: 'tool_use',
        id: 'c',
        name: 'f',
        input: { image_url: URL, source: { type: 'url', url: URL } },
      }),
    ],
    ['an image inside', 'gemini', gemini({ inlineData: { mimeType: 'image/png', data: 'AAAA' } })],
    [
      'a file kept there',
      'gemini',
      gemini({ fileData: { fileUri: FILES } }, { fileData: { fileUri: 'files/abc' } }),
    ],
    ['an image inside', 'gemini-interactions', interactions({ type: 'image', data: 'AAAA' })],
    ['a file given before', 'gemini-interactions', interactions({ type: 'video', uri: FILES })],
    [
      'an argument of a call',
      'gemini-interactions',
      interactions({ type: 'function_call', id: 'c', name: 'f', arguments: { uri: URL } }),
    ],
    ['an argument of a call', 'gemini', gemini({ functionCall: { name: 'f', args: { fileUri: URL } } })],
    [
      'a result about one',
      'gemini',
      gemini({ functionResponse: { name: 'f', response: { file_uri: URL } } }),
    ],
  ])('is none by %s in %s', (_, name, body) => {
    expect(reads(name, body)).toBe(false);
  });

  it('is none by what nests without end', () => {
    const deep = JSON.parse(`{"type":"x","content":${'['.repeat(9_000)}${']'.repeat(9_000)}}`);
    expect(reads('anthropic', messages(deep))).toBe(false);
  });
});
