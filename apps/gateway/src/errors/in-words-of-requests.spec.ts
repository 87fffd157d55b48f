import { expect, it } from 'vitest';
import type { z } from 'zod';
import {
  agentPolicyPatchSchema,
  alertChannelBodySchema,
  alertRuleBodySchema,
  createOperatorBodySchema,
  runtimeConfigPatchSchema,
  upstreamPutSchema,
} from '#contracts';
import { pollQuery } from '../hitl/agent-control.controller.js';
import { ROUTES } from '../openapi/routes.js';
import { describeIssues } from './field-errors.js';
import { inWordsOfRequests } from './in-words-of-requests.js';

const saidOf = (schema: z.ZodType, value: unknown): string => {
  const { error } = schema.safeParse(value, { error: inWordsOfRequests });
  return error === undefined ? '' : describeIssues(error).detail;
};
const mail = { kind: 'email', name: 'n', to: ['a@example.com'], from: 'a@example.com', smtp_host: 'h' };

it.each<[z.ZodType, unknown, string]>([
  [pollQuery, { wait_s: '56' }, 'wait_s: must be at most 55.'],
  [pollQuery, { wait_s: '-1' }, 'wait_s: must be at least 0.'],
  [pollQuery, { wait_s: 'soon' }, 'wait_s: expected a number.'],
  [pollQuery, { after: '1.5' }, 'after: expected a whole number.'],
  [agentPolicyPatchSchema, { budget_day_usd: 0 }, 'budget_day_usd: must be more than 0.'],
  [agentPolicyPatchSchema, { reason: ' ' }, 'reason: must not be empty.'],
  [agentPolicyPatchSchema, { reason: 'x'.repeat(501) }, 'reason: must have at most 500 characters.'],
  [agentPolicyPatchSchema, { active: 'yes' }, 'active: expected true or false.'],
  [agentPolicyPatchSchema, { allowed_hours: [] }, 'allowed_hours: expected a JSON object.'],
  [alertRuleBodySchema, { type: 'budget' }, 'name: missing; expected a string.'],
  [
    upstreamPutSchema,
    { base_url: 'api.example.com' },
    'base_url: expected a URL that begins with http:// or https://.',
  ],
  [alertChannelBodySchema, { kind: 'fax' }, 'kind: expected one of "webhook", "slack", "email".'],
  [alertChannelBodySchema, {}, 'kind: expected one of "webhook", "slack", "email".'],
  [
    alertChannelBodySchema,
    { kind: 'webhook', name: 'n', url: 'https://example.com', secret: 'short' },
    'secret: must have at least 16 characters.',
  ],
  [
    alertChannelBodySchema,
    { ...mail, smtp_port: 0, to: [] },
    'to: must not be empty. smtp_port: must be at least 1.',
  ],
  [
    alertChannelBodySchema,
    { ...mail, smtp_port: 25, to: Array(21).fill('a@example.com') },
    'to: must have at most 20 entries.',
  ],
  [
    alertChannelBodySchema,
    { ...mail, smtp_port: 25, to: 'operations@example.com' },
    'to: expected an array.',
  ],
  [
    alertChannelBodySchema,
    { ...mail, smtp_port: 25, from: 'ann' },
    'from: expected an e-mail address such as ann@example.com.',
  ],
  [
    createOperatorBodySchema,
    { name: 'n', role: 'admin', tenant_ids: [7] },
    'tenant_ids.0: expected a string or "*".',
  ],
  [createOperatorBodySchema, { name: 'n', role: 'admin', tenant_ids: 'a' }, 'tenant_ids: expected an array.'],
  [runtimeConfigPatchSchema, [], 'the body: expected a JSON object.'],
])('%#: says what is wrong in words of a request', (schema, value, said) => {
  expect(saidOf(schema, value)).toBe(said);
});

/** Odd values for any field: of each kind, and beyond any bound. */
const ODD = [
  undefined,
  null,
  '',
  'x',
  'x'.repeat(100_000),
  -1,
  0,
  1.5,
  1e300,
  Number.NaN,
  true,
  {},
  { a: 1 },
  [],
  [7],
  Array(10_000).fill(''),
];
const takenByRoutes = ROUTES.flatMap(({ path, query, body }) =>
  [query, ...Object.values(body?.content ?? {})].flatMap((schema) =>
    schema ? [[path, schema] as const] : [],
  ),
);
const fieldsOf = (schema: z.ZodType): string[] => {
  const { def } = schema as unknown as { def: { shape?: object; options?: z.ZodType[] } };
  return def.shape ? Object.keys(def.shape) : (def.options ?? []).flatMap(fieldsOf);
};

it.each(takenByRoutes)('says nothing in the words of the library of what %s takes', (_path, schema) => {
  const given = [...ODD, ...fieldsOf(schema).flatMap((field) => ODD.map((odd) => ({ [field]: odd })))];
  for (const value of given) expect(saidOf(schema, value)).not.toMatch(/Invalid|Too |Unrecognized|undefined/);
});
