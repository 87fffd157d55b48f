import fc from 'fast-check';
import { expect, it } from 'vitest';
import { promptNames, requestDigest, scopeKeys } from './prompt-keys.js';

const NAMES = promptNames('p:', 'all-MiniLM-L6-v2', 384);
/** Lone surrogates and separators included. */
const id = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', ':', '|', '*', '{', '}', '\0', '1', '\ud800', '\udc00'),
    maxLength: 6,
  }),
  fc.string({ unit: 'binary', maxLength: 300, size: 'max' }),
);

it('names model and dimension in the index and in every key', () => {
  expect(NAMES.index).toMatch(/^p:all-minilm-l6-v2-[0-9a-f]{12}:384$/);
  expect(NAMES.entryPrefix).toBe(`${NAMES.index}:entry:`);
  const { order, entryPrefix, sessionTag } = scopeKeys(NAMES, { tenant_id: 't', session_id: 's' });
  expect(order).toBe(`${NAMES.index}:order:{${sessionTag}}`);
  expect(entryPrefix).toBe(`${NAMES.entryPrefix}{${sessionTag}}:`);
});

it.each([
  ['another model', promptNames('p:', 'all-minilm-l6-v2', 384)],
  ['another long model', promptNames('p:', `all-MiniLM-L6-v2${'x'.repeat(90)}`, 384)],
  ['another dimension', promptNames('p:', 'all-MiniLM-L6-v2', 3840)],
  ['another prefix', promptNames('q:', 'all-MiniLM-L6-v2', 384)],
])('covers with an index no entry of %s', (_what, other) => {
  expect(other.index).not.toBe(NAMES.index);
  expect(other.entryPrefix.startsWith(NAMES.entryPrefix)).toBe(false);
  expect(NAMES.entryPrefix.startsWith(other.entryPrefix)).toBe(false);
  expect(other.orderPrefix.startsWith(NAMES.entryPrefix)).toBe(false);
});

it('keeps a model of any name out of the syntax of keys and patterns', () => {
  fc.assert(
    fc.property(id, (modelId) => {
      expect(promptNames('p:', modelId, 8).index).toMatch(/^p:[a-z0-9.-]+:8$/);
    }),
  );
});

it('gives tags and keys that need no escaping, all in one slot', () => {
  fc.assert(
    fc.property(id, id, id, (tenant_id, session_id, requestId) => {
      const { tenantTag, sessionTag, order, entryPrefix } = scopeKeys(NAMES, { tenant_id, session_id });
      for (const text of [tenantTag, sessionTag, requestDigest(requestId)])
        expect(text).toMatch(/^[0-9a-f]{64}$/);
      for (const key of [order, entryPrefix]) expect(key.match(/\{[^}]*\}/g)).toEqual([`{${sessionTag}}`]);
    }),
  );
});

it('never gives two scopes one tag, nor two tenants, nor two requests', () => {
  fc.assert(
    fc.property(id, id, id, id, (tenant, session, otherTenant, otherSession) => {
      const one = scopeKeys(NAMES, { tenant_id: tenant, session_id: session });
      const other = scopeKeys(NAMES, { tenant_id: otherTenant, session_id: otherSession });
      const isSame = tenant === otherTenant && session === otherSession;
      expect(one.sessionTag === other.sessionTag).toBe(isSame);
      expect(one.order === other.order).toBe(isSame);
      expect(one.tenantTag === other.tenantTag).toBe(tenant === otherTenant);
      expect(requestDigest(tenant) === requestDigest(otherTenant)).toBe(tenant === otherTenant);
    }),
    { numRuns: 500 },
  );
});

it('knows where a tenant ends and its session begins, wherever one text is cut in two', () => {
  fc.assert(
    fc.property(id, fc.nat(8), fc.nat(8), (text, one, other) => {
      const at = [one, other].map((cut) => Math.min(cut, text.length));
      const orders = at.map((cut) =>
        scopeKeys(NAMES, { tenant_id: text.slice(0, cut), session_id: text.slice(cut) }),
      );
      expect(orders[0]?.order === orders[1]?.order).toBe(at[0] === at[1]);
    }),
    { numRuns: 500 },
  );
});
