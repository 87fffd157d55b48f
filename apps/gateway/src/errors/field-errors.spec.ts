import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ObservatoryError } from '#contracts';
import { parseFields } from './field-errors.js';

const schema = z.strictObject({
  name: z.string().min(1),
  role: z.enum(['viewer', 'admin']),
  limit: z.coerce.number().int().max(500).default(50),
  host: z
    .string()
    .regex(/^[a-z]+$/, 'lower-case letters')
    .optional(),
});

/** The detail and the fields of the refusal. */
function refusalOf(value: unknown): unknown[] {
  try {
    parseFields(schema, value);
  } catch (error) {
    const { detail, fields } = (error as ObservatoryError).toAnswer();
    return [detail, fields];
  }
  throw new Error('it was taken');
}

describe('a refusal of fields', () => {
  it.each([
    ['missing', {}, 'name: missing; expected a string. role: missing; expected one of "viewer", "admin".'],
    ['of another type', { name: 7, role: 'admin' }, 'name: expected a string.'],
    ['no number', { name: 'a', role: 'admin', limit: 'x' }, 'limit: expected a number.'],
    ['no whole number', { name: 'a', role: 'admin', limit: '1.5' }, 'limit: expected a whole number.'],
    ['another word', { name: 'a', role: 'x' }, 'role: expected one of "viewer", "admin".'],
    [
      'unknown',
      { name: 'a', role: 'admin', nmae: 1 },
      'nmae: there is no such field; known are name, role, limit, host.',
    ],
    [
      'beyond a bound',
      { name: '', role: 'admin', limit: 501 },
      'name: must not be empty. limit: must be at most 500.',
    ],
    ['as the schema puts it', { name: 'a', role: 'admin', host: 'A' }, 'host: lower-case letters.'],
    ['no object', [], 'the body: expected a JSON object.'],
  ])('says which is %s', (_title, value, detail) => {
    expect(refusalOf(value)[0]).toBe(detail);
  });

  it('names them all', () => {
    expect(refusalOf({ nmae: 1, role: 'x' })[1]).toEqual(['name', 'role', 'nmae']);
  });
});
