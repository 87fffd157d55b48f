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
    expect(read('data: 1\r', '\n', '\n')).toEqual([['', '1']]);
  });

  it('takes a byte order mark for one at the beginning alone', () => {
    expect(read('data: 1\n\n', '\ufeffdata: 2\n\n')).toEqual([['', '1']]);
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

  it.each([
    ['a line', `data: ${'x'.repeat(DIALECT_LIMITS.eventCharsMax + 1)}\ndata: same event\n\n`],
    ['lines', `data: ${'x'.repeat(DIALECT_LIMITS.eventCharsMax / 2)}\n`.repeat(3).concat('\n')],
  ])('skips an event with %s beyond the limit, counts it, and reads on', (_, long) => {
    const events: string[] = [];
    const reader = new SseReader((data) => events.push(data));
    reader.push(Buffer.from(`${long}data: next\n\n${long}`));
    expect(events).toEqual(['next']);
    expect(reader.skippedCount).toBe(2);
    expect(reader.keptCount).toBe(0);
  });

  it.each(['\n', '\r\n', '\r'])(
    'holds no more than the limit of a line that does not end with its %j',
    (end) => {
      const events: string[] = [];
      const reader = new SseReader((data) => events.push(data));
      const mebibyte = Buffer.alloc(1024 * 1024, 'x');
      reader.push(Buffer.from('data: '));
      for (let sent = 0; sent <= DIALECT_LIMITS.eventBytesMax; sent += mebibyte.length) {
        reader.push(mebibyte);
        expect(reader.keptCount).toBeLessThanOrEqual(DIALECT_LIMITS.eventBytesMax);
      }
      expect(reader.keptCount).toBe(0);
      reader.push(Buffer.from(`end${end.charAt(0)}`));
      reader.push(Buffer.from(`${end.slice(1)}data: same event${end}${end}data: next${end}${end}`));
      for (const data of ['later', 'last']) reader.push(Buffer.from(`data: ${data}${end}${end}`));
      expect(events).toEqual(['next', 'later', 'last']);
      expect(reader.skippedCount).toBe(1);
    },
  );
});
