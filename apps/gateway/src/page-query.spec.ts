import { expect, test } from 'vitest';
import { parseFields } from './errors/field-errors.js';
import { pollQuery } from './hitl/agent-control.controller.js';
import { callsQuery, spendQuery } from './llm-proxy/calls/calls.controller.js';
import { pageQuery } from './page-query.js';

test.each([
  ['limit', pageQuery],
  ['to_ms', callsQuery],
  ['from_ms', spendQuery],
  ['wait_s', pollQuery],
  ['after', pollQuery],
] as const)('a %s that is left blank, or written as no document writes numbers, is none', (name, schema) => {
  for (const blank of ['', ' ', '0x10', '0b1', ' 5', '+5', 'Infinity'])
    expect(() => parseFields(schema, { group: 'day', [name]: blank })).toThrow(`${name}: expected a number.`);
  expect(parseFields(schema, { group: 'day', [name]: '7' })).toHaveProperty(name, 7);
});
