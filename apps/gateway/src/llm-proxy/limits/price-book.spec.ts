import { expect, it } from 'vitest';
import type { ModelPrice } from '#contracts';
import { FakeClock } from '#testing';
import { ADMIN, FakeAccessStore } from '../../auth/access.fixture.js';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { PriceBook } from './price-book.js';

/** @param refused the writes that the store refuses, in their order */
function start(refused: readonly boolean[], stored: object[] = []) {
  const clock = new FakeClock();
  const saved: unknown[] = [];
  const savedFor: unknown[] = [];
  const audited: string[] = [];
  let writeCount = 0;
  const book = new PriceBook({
    store: {
      documents: async () => stored as never,
      commitDocuments: async ({ saved: [document] = [], audit = [] }) => {
        const isRefused = refused[writeCount++];
        await new Promise(setImmediate);
        if (isRefused) throw new Error('store_busy');
        saved.push(document?.body);
        savedFor.push(document?.tenant_id);
        audited.push(...audit.map(({ action }) => action));
      },
    },
    audit: new SettingsAudit(new FakeAccessStore(), clock),
    clock,
  });
  const put = (version: number, models: ModelPrice[] = []) => book.put(ADMIN, { version, models });
  return { book, put, saved, savedFor, audited };
}

it('begins with the tables that were stored, and the one of this program for whoever has none', async () => {
  const table = { version: 7, updated_at_ms: 1, updated_by: 'ada', models: [] };
  const { book } = start([], [{ tenant_id: 'red', body: table }]);
  await book.load();
  expect(book.table('red')).toBe(table);
  expect(book.table('default').models.length).toBeGreaterThan(0);
});

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

it('makes no version of a table that is as the one before, but keeps the default one for a tenant that sends it', async () => {
  const { book, put, saved, audited } = start([]);
  const { version, models } = book.table('default');
  const own = await put(version, structuredClone(models));
  expect(own).toMatchObject({ version: version + 1, updated_by: ADMIN.operator_id });
  expect(await put(own.version, structuredClone(models))).toBe(own);
  await expect(put(version, models)).rejects.toMatchObject({ code: 'version_conflict' });
  expect([saved, audited]).toEqual([[own], ['prices.update']]);
  expect((await put(own.version, models.slice(1))).version).toBe(own.version + 1);
});

it('has the price of a service tier in a line of its own, and no model twice', async () => {
  const { book, put } = start([]);
  const priced = (model: string, input_usd: number) => ({ model, input_usd, output_usd: 1 }) as ModelPrice;
  const { version } = book.table('default');
  const flex = priced('m[flex]', 2);
  await expect(put(version + 1)).rejects.toMatchObject({ code: 'version_conflict' });
  await expect(put(version, [flex, flex])).rejects.toMatchObject({ code: 'invalid_fields' });
  await put(version, [priced('m', 4), flex]);
  expect(book.price('default', 'm')?.input_usd).toBe(4);
  expect(book.price('default', 'm', 'flex')?.input_usd).toBe(2);
  expect(book.price('default', null)).toBeNull();
  expect(book.price('other', 'm')).toBeNull();
});

it('is kept for the tenant whose operator sends it', async () => {
  const { book, savedFor } = start([]);
  const { version } = book.table('red');
  const kept = await book.put({ ...ADMIN, tenant_id: 'red' }, { version, models: [] });
  expect([book.table('red'), savedFor]).toEqual([kept, ['red']]);
  expect(book.table('default').models.length).toBeGreaterThan(0);
});
