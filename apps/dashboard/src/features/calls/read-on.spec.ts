import { expect, test } from 'vitest';
import type { Page } from '#contracts';
import { readOn } from './read-on';

const PAGES: Record<string, Page<string>> = {
  first: { items: [], next_cursor: 'a' },
  a: { items: [], next_cursor: 'b' },
  b: { items: ['found'], next_cursor: 'c' },
  c: { items: [], next_cursor: null },
};
const read = async (cursor: string | null) => PAGES[cursor ?? 'first'] as Page<string>;

test('empty pages are read past, up to the next that shows something', async () => {
  expect(await readOn(read, null)).toEqual({ items: ['found'], next_cursor: 'c' });
});

test('the last page ends it, empty or not', async () => {
  expect(await readOn(read, 'c')).toEqual({ items: [], next_cursor: null });
});

test('no more is read once nobody waits for it', async () => {
  const leaving = new AbortController();
  const cursors: (string | null)[] = [];
  const readThenLeave = (cursor: string | null) => {
    cursors.push(cursor);
    if (cursor === 'a') leaving.abort();
    return read(cursor);
  };
  await expect(readOn(readThenLeave, null, leaving.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(cursors).toEqual([null, 'a']);
});
