import { describe, expect, it } from 'vitest';
import { DIALECT_LIMITS } from './dialect-limits.js';
import { SseReader } from './sse.js';

/** What a reader makes of these chunks: name and data of each event. */
function read(...chunks: (string | Uint8Array)[]): string[][] {
  const events: string[][] = [];
  const reader = new SseReader((data, name) => events.push([name, data]));
  for (const chunk of chunks) reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return events;
}

describe('SseReader', () => {
  it.each(['\n', '\r\n', '\r'])('reads lines that end in %j', (end) => {
    const stream = ['event: a', 'data: 1', 'data: 2', '', 'data:3', '', ''].join(end);
    expect(read(stream)).toEqual([
      ['a', '1\n2'],
      ['', '3'],
    ]);
    expect(read(...stream)).toEqual(read(stream));
  });

  it('skips a byte order mark, comments, unknown fields, and events without data', () => {
    expect(read('\ufeffdata: 1\n\n: held\n\nid: 7\nretry: 5\ndatabase: x\n\nevent: b\n\ndata\n\n')).toEqual([
      ['', '1'],
      ['', ''],
    ]);
  });

  it('strips one space after the colon and no more', () => {
    expect(read('data:  a \nevent:b\n\n')).toEqual([['b', ' a ']]);
  });

  it.each(['', '\r', '\n', '\r\n'])('reads an event that has not ended when its stream has: %j', (end) => {
    const events: string[][] = [];
    const reader = new SseReader((data, name) => events.push([name, data]));
    reader.push(Buffer.from(`data: 1\n\nevent: b\ndata: 2\ndata: 3${end}`));
    expect(events).toEqual([['', '1']]);
    reader.end();
    expect(events).toEqual([
      ['', '1'],
      ['b', '2\n3'],
    ]);
    reader.end();
    expect(events).toHaveLength(2);
  });

  it('counts what was too long and has not ended when its stream has', () => {
    const reader = new SseReader(() => expect.fail('too long to be read'));
    const part = Buffer.alloc(DIALECT_LIMITS.eventBytesMax / 2 + 1, 'x');
    for (const chunk of [Buffer.from('data: '), part, part]) reader.push(chunk);
    reader.end();
    expect(reader.skippedCount).toBe(1);
  });

  it('takes a CR and an LF in two chunks for one line end', () => {
    expect(read('data: 1\r', '\ndata: 2\r', '\n\r', '\n')).toEqual([['', '1\n2']]);
  });

  it('reads characters whose bytes come one by one', () => {
    const bytes = Buffer.from('data: Gdańsk 🚆\n\n');
    expect(read(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([['', 'Gdańsk 🚆']]);
  });

  it('keeps nothing of a chunk whose memory is used again', () => {
    const chunk = Buffer.from('data: on');
    const events: string[] = [];
    const reader = new SseReader((data) => events.push(data));
    reader.push(chunk);
    chunk.fill('x');
    reader.push(Buffer.from('e\n\n'));
    expect(events).toEqual(['one']);
  });

  it('skips an event with a line beyond the limit, counts it, and reads on', () => {
    const long = 'x'.repeat(DIALECT_LIMITS.eventCharsMax + 1);
    const events: string[] = [];
    const reader = new SseReader((data) => events.push(data));
    reader.push(Buffer.from(`data: ${long}\ndata: same event\n\ndata: next\n\n`));
    expect(events).toEqual(['next']);
    expect(reader.skippedCount).toBe(1);
  });

  it('holds no more than the limit of a line that does not end', () => {
    const events: string[] = [];
    const reader = new SseReader((data) => events.push(data));
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    reader.push(Buffer.from('data: '));
    for (let sent = 0; sent <= DIALECT_LIMITS.eventBytesMax; sent += mebibyte.length) reader.push(mebibyte);
    reader.push(Buffer.from('end\r'));
    reader.push(Buffer.from('\ndata: same event\r\n\r\ndata: next\r\n\r\n'));
    expect(events).toEqual(['next']);
    expect(reader.skippedCount).toBe(1);
  });
});
