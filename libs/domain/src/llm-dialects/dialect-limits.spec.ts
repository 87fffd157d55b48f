import { describe, expect, it, vi } from 'vitest';
import { attachmentDigest } from './attachment-digest.js';
import { DIALECT_BY_NAME } from './dialect-for.js';
import { DIALECT_LIMITS } from './dialect-limits.js';

const delta = (delta: object) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
const chat = DIALECT_BY_NAME['openai-chat'];

describe('the bounds of a stream reader', () => {
  it('keep so much text and no more, and say that some is missing', () => {
    const reader = chat.streamReader();
    const half = 'x'.repeat(DIALECT_LIMITS.answerCharsMax / 2);
    reader.push(delta({ content: half }));
    reader.push(delta({ content: half }));
    expect(reader.isTruncated).toBe(false);
    reader.push(delta({ content: 'one more' }));
    expect(reader.isTruncated).toBe(true);
    expect(reader.answer().text).toHaveLength(DIALECT_LIMITS.answerCharsMax);
  });

  it('keep so many tool calls and no more', () => {
    const reader = chat.streamReader();
    for (let index = 0; index <= DIALECT_LIMITS.toolCallsMax; index++) {
      expect(reader.isTruncated).toBe(false);
      reader.push(
        delta({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }] }),
      );
    }
    expect(reader.isTruncated).toBe(true);
    expect(reader.answer().tool_calls).toHaveLength(DIALECT_LIMITS.toolCallsMax);
  });

  it('count the ids and names of calls among the text', () => {
    const reader = chat.streamReader();
    const long = 'x'.repeat(DIALECT_LIMITS.answerCharsMax / 2);
    const begin = (index: number) =>
      reader.push(delta({ tool_calls: [{ index, id: long, function: { name: long, arguments: '' } }] }));
    begin(0);
    begin(0);
    expect(reader.isTruncated).toBe(false);
    begin(1);
    expect(reader.isTruncated).toBe(true);
    expect(JSON.stringify(reader.answer()).length).toBeLessThan(DIALECT_LIMITS.answerCharsMax + 1_000);
  });

  it.each(Object.values(DIALECT_BY_NAME))(
    'read nothing behind many broken events, and on behind any number of words: $name',
    (dialect) => {
      const parse = vi.spyOn(JSON, 'parse');
      try {
        const reader = dialect.streamReader();
        reader.push(Buffer.from('data: {broken}\n\n'.repeat(DIALECT_LIMITS.brokenEventsMax)));
        reader.push(Buffer.from('data: ping\n\n'.repeat(10_000)));
        expect(parse).toHaveBeenCalledTimes(DIALECT_LIMITS.brokenEventsMax);
        expect(reader.isTruncated).toBe(true);
        reader.push(delta({ content: 'more' }));
        expect(parse).toHaveBeenCalledTimes(DIALECT_LIMITS.brokenEventsMax);
      } finally {
        parse.mockRestore();
      }
      const reader = chat.streamReader();
      reader.push(Buffer.from('data: ping\n\n'.repeat(1_000)));
      reader.push(delta({ content: 'more' }));
      expect(reader.isTruncated).toBe(false);
      expect(reader.answer().text).toBe('more');
    },
  );

  it('skip an element of a JSON array that is too long, and read on', () => {
    const reader = DIALECT_BY_NAME.gemini.streamReader();
    const part = (text: string) => JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] });
    const long = part('x'.repeat(DIALECT_LIMITS.eventCharsMax));
    reader.push(Buffer.from(`[${long},`));
    for (const piece of [long.slice(0, 5_000_000), long.slice(5_000_000)]) reader.push(Buffer.from(piece));
    reader.push(Buffer.from(`,${part('next')}]`));
    expect(reader.answer().text).toBe('next');
    expect(reader.isTruncated).toBe(true);
  });
});

describe('attachmentDigest', () => {
  it('tells long contents apart by length, either end and the middle', () => {
    const long = 'A'.repeat(1_000_000);
    const variants = [
      long,
      `${long}A`,
      `B${long.slice(1)}`,
      `${long.slice(1)}B`,
      long.slice(0, 400_000) + 'B'.repeat(200_000) + long.slice(600_000),
    ];
    expect(new Set(variants.map(attachmentDigest)).size).toBe(variants.length);
    expect(attachmentDigest(long)).toBe(attachmentDigest('A'.repeat(1_000_000)));
  });
});

describe('reading what is more than the stack holds', () => {
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);

  it('gives a reading of the rest', () => {
    const request = chat.readRequest(
      {
        messages: [
          { role: 'user', content: deep },
          { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: deep } }] },
          { role: 'tool', tool_call_id: 'a', content: [{ deep }] },
          { role: 'user', content: 'hi' },
        ],
      },
      '/chat/completions',
    );
    expect(request.newest.user_text).toBe('hi');
    expect(request.newest.tool_results[0]?.call).toMatchObject({ name: 'f' });
    for (const dialect of Object.values(DIALECT_BY_NAME)) {
      expect(dialect.readRequest(deep, '/').message_count).toBe(0);
      expect(dialect.readAnswer(deep)).toMatchObject({ text: '', tool_calls: [] });
    }
  });

  it('reads a message of more parts than a call takes arguments', () => {
    const content = Array.from({ length: 300_000 }, () => 'a');
    const messages = [{ role: 'user', content }];
    for (const { readRequest } of Object.values(DIALECT_BY_NAME)) {
      const body = { messages, input: messages, contents: [{ role: 'user', parts: content }] };
      const { first_user_text, newest } = readRequest(body, '/');
      expect(first_user_text).toHaveLength(599_999);
      expect(newest.user_text).toBe(first_user_text);
    }
  });

  it('looks for the calls of many results in one pass', () => {
    const count = 50_000;
    const messages = [
      ...Array.from({ length: count }, () => ({
        role: 'assistant',
        tool_calls: [{ id: 'known', function: { name: 'f' } }],
      })),
      ...Array.from({ length: count }, (_, index) => ({
        role: 'tool',
        tool_call_id: `unknown ${index}`,
        content: '',
      })),
    ];
    const { tool_results } = chat.readRequest({ messages }, '/chat/completions').newest;
    expect(tool_results).toHaveLength(count);
  });
});
