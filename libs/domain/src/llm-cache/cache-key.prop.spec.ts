import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CanonicalRequest } from '#contracts';
import { cacheIdentity } from './cache-key.js';

const WHERE = { tenantId: 't', upstream: 'openai' };
const keyAndScope = (value: CanonicalRequest) => {
  const identity = cacheIdentity(value, WHERE);
  return identity && { key: identity.key, scope: identity.scope() };
};
/** Numbers that JSON.parse may have rounded have no key, and a spec of their own. */
const exact = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isInteger(value) ? value % 1_000_003 : value;
  if (Array.isArray(value)) return value.map(exact);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exact(member)]));
};
const json = fc.jsonValue({ maxDepth: 4 }).map(exact);
const vendorValue = fc.record({
  vendor: fc.constantFrom('openai-chat' as const, 'gemini' as const),
  value: json,
});
const message = fc.record({
  role: fc.option(fc.constantFrom('user', 'assistant', 'tool', '')),
  parts: fc.array(fc.oneof(fc.string({ unit: 'binary' }), vendorValue), { maxLength: 3 }),
  extra: fc.option(vendorValue),
});
const request: fc.Arbitrary<CanonicalRequest> = fc.record({
  dialect: fc.constant('openai-chat' as const),
  model: fc.option(fc.string()),
  system: fc.array(message, { maxLength: 2 }),
  messages: fc.array(message, { maxLength: 4 }),
  temperature: fc.option(fc.constantFrom(0, 0.1, 0.101, 1)),
  tools: fc.option(vendorValue),
  tool_choice: fc.option(fc.oneof(fc.constantFrom('auto', 'none', ''), vendorValue)),
  max_tokens: fc.option(fc.nat()),
  rest: fc.dictionary(fc.string(), json),
});

/** The same value with the keys of all its objects written the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

/** A copy with one leaf, found by counting, changed. */
function changed(value: unknown, leaf: { left: number }): unknown {
  if (Array.isArray(value)) return value.map((member) => changed(member, leaf));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        name === 'dialect' ? member : changed(member, leaf),
      ]),
    );
  }
  leaf.left -= 1;
  if (leaf.left !== -1) return value;
  if (typeof value === 'string') return `${value} `;
  if (typeof value === 'number') return value + 1;
  return value === null ? 'null' : !value;
}

const leavesOf = (value: unknown): number => {
  const count = { left: 1_000_000 };
  changed(value, count);
  return 1_000_000 - count.left;
};

describe('the cache key', () => {
  it('[15] is the same whatever the order in which keys were written, and for two readings of one text', () => {
    fc.assert(
      fc.property(request, (value) => {
        const identity = keyAndScope(value);
        expect(keyAndScope(reversed(value) as CanonicalRequest)).toEqual(identity);
        expect(keyAndScope(JSON.parse(JSON.stringify(value)))).toEqual(identity);
      }),
      { numRuns: 300 },
    );
  });

  it('is another when any leaf of the request is another', () => {
    fc.assert(
      fc.property(request, fc.nat(), (value, place) => {
        const count = leavesOf(value);
        const other = changed(value, { left: place % count }) as CanonicalRequest;
        fc.pre(JSON.stringify(other) !== JSON.stringify(value));
        expect(cacheIdentity(other, WHERE)?.key).not.toBe(cacheIdentity(value, WHERE)?.key);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is another for any two requests that differ, and only then', () => {
    fc.assert(
      fc.property(request, request, (one, two) => {
        const differ = JSON.stringify(sorted(one)) !== JSON.stringify(sorted(two));
        expect(cacheIdentity(one, WHERE)?.key !== cacheIdentity(two, WHERE)?.key).toBe(differ);
      }),
      { numRuns: 500 },
    );
  });

  it('never meets another tenant’s or another upstream’s, nor its own scope', () => {
    const name = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        request,
        name,
        name,
        name,
        name,
        (value, tenantId, upstream, otherTenant, otherUpstream) => {
          fc.pre(tenantId !== otherTenant || upstream !== otherUpstream);
          const one = cacheIdentity(value, { tenantId, upstream });
          const two = cacheIdentity(value, { tenantId: otherTenant, upstream: otherUpstream });
          expect(one?.key).toMatch(/^[0-9a-f]{64}$/);
          expect(one?.key).not.toBe(two?.key);
          const scope = one?.scope()?.scope;
          if (scope !== undefined) {
            expect(scope).not.toBe(two?.scope()?.scope);
            expect(scope).not.toBe(one?.key);
          }
        },
      ),
    );
  });
});

/** As JSON.parse and JSON.stringify see it, keys in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [two]) => (one < two ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}
