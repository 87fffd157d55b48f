import { expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { ADMIN, FakeAccessStore } from '../../auth/access.fixture.js';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { PriceBook } from './price-book.js';

/** @param refused the writes that the store refuses, in their order */
function start(refused: readonly boolean[]) {
  const clock = new FakeClock();
  const saved: unknown[] = [];
  let writeCount = 0;
  const book = new PriceBook({
    store: {
      documents: async () => [],
      saveDocument: async ({ body }) => {
        const isRefused = refused[writeCount++];
        await new Promise(setImmediate);
        if (isRefused) throw new Error('store_busy');
        saved.push(body);
      },
    },
    audit: new SettingsAudit(new FakeAccessStore(), clock),
    clock,
  });
  const put = (version: number) => book.put(ADMIN, { version, models: [] });
  return { book, put, saved };
}

it('takes of two operators who edit one table the first', async () => {
  const { book, put, saved } = start([]);
  const { version } = book.table('default');
  const [first, second] = await Promise.allSettled([put(version), put(version)]);
  expect(first.status).toBe('fulfilled');
  expect(second).toMatchObject({ reason: { code: 'version_conflict' } });
  expect(book.table('default')).toBe(saved.at(-1));
});

it('shows no table before it is stored, so that nobody builds on one that the store refuses', async () => {
  const { book, put, saved } = start([true]);
  const before = book.table('default');
  const refused = put(before.version);
  expect(book.table('default')).toBe(before);
  await expect(refused).rejects.toThrow('store_busy');
  await put(before.version);
  expect(book.table('default')).toBe(saved.at(-1));
});
