/** Bodies and queries against their schemas, with refusals that name the field. */
import type { z } from 'zod';
import { ObservatoryError, repeatedNames } from '#contracts';
import { inWordsOfRequests } from './in-words-of-requests.js';

/** The fields at fault, as dotted paths, and one sentence about each. */
export function describeIssues(error: z.ZodError): { fields: string[]; detail: string } {
  const fields = new Set<string>();
  const sentences: string[] = [];
  const ofAnotherType = new Set<string>();
  for (const issue of error.issues) {
    const path = issue.path.join('.');
    // zod goes on to count the characters of a text that should have been a list.
    if (ofAnotherType.has(path)) continue;
    if (issue.code === 'invalid_type') ofAnotherType.add(path);
    const names =
      issue.code === 'unrecognized_keys'
        ? repeatedNames(issue.keys).map((key) => (path ? `${path}.${key}` : key))
        : [path];
    for (const name of names) if (name !== '') fields.add(name);
    sentences.push(`${names.join(', ') || 'the body'}: ${issue.message}`);
  }
  return { fields: [...fields], detail: `${sentences.join('. ')}.` };
}

/** The value as its schema types it. @throws ObservatoryError invalid_fields naming each field */
export function parseFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value ?? {}, { error: inWordsOfRequests });
  if (parsed.success) return parsed.data;
  const { fields, detail } = describeIssues(parsed.error);
  throw new ObservatoryError('invalid_fields', detail, { fields });
}
