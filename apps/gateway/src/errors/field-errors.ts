/** Bodies and queries against their schemas, with refusals that name the field. */
import { z } from 'zod';
import { ObservatoryError, repeatedNames } from '#contracts';

/** The fields at fault, as dotted paths, and one sentence about each. */
export function describeIssues(error: z.ZodError): { fields: string[]; detail: string } {
  const fields = new Set<string>();
  const sentences: string[] = [];
  for (const issue of error.issues) {
    const path = issue.path.join('.');
    const names =
      issue.code === 'unrecognized_keys'
        ? repeatedNames(issue.keys).map((key) => (path ? `${path}.${key}` : key))
        : [path];
    for (const name of names) if (name !== '') fields.add(name);
    sentences.push(`${names.join(', ') || 'the body'}: ${issue.message}`);
  }
  return { fields: [...fields], detail: `${sentences.join('. ')}.` };
}

/**
 * What zod says of the commonest mistakes in words of JavaScript ("expected number, received NaN"), in words of a request.
 * Undefined: as zod, or the schema itself, puts it. Bounds stay zod's, which the dashboard reads.
 */
export const inWordsOfRequests: z.core.$ZodErrorMap = (issue) => {
  const lead = issue.input === undefined ? 'missing; ' : '';
  if (issue.code === 'unrecognized_keys')
    return ['there is no such field', ...knownFields(issue.inst)].join('; known are ');
  if (issue.code === 'invalid_value')
    return `${lead}expected one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
  if (issue.code !== 'invalid_type') return undefined;
  if (!issue.path?.length) return 'expected a JSON object';
  if (lead !== '') return `${lead}expected ${issue.expected}`;
  if (Number.isNaN(issue.input)) return 'expected a number';
  return (issue.expected as string) === 'int' ? 'expected a whole number' : undefined;
};

/** Of the object with an unknown one: a list in words, or nothing where its schema has none. */
function knownFields(schema: unknown): string[] {
  const names = schema instanceof z.core.$ZodObject ? Object.keys(schema._zod.def.shape) : [];
  return names.length > 0 ? [names.join(', ')] : [];
}

/** The value as its schema types it. @throws ObservatoryError invalid_fields naming each field */
export function parseFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value ?? {}, { error: inWordsOfRequests });
  if (parsed.success) return parsed.data;
  const { fields, detail } = describeIssues(parsed.error);
  throw new ObservatoryError('invalid_fields', detail, { fields });
}
