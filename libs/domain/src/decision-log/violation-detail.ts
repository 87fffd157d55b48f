/**
 * A schema's complaints as sentences for the sender. They also end up in `violation_reason`, which is published,
 * stored and logged, so they tell kinds and lengths and never quote a value: it might be anything, a secret too.
 */
import type { z } from 'zod';
import { decisionLogSchema } from '#contracts';
import { joinPath } from './json-guard.js';

type SchemaIssue = z.core.$ZodIssue;

const ISSUE_COUNT_MAX = 3;

/** Section -> its required members, in the schema's order. */
const REQUIRED_MEMBERS = new Map<string, string[]>();
for (const [section, schema] of Object.entries(decisionLogSchema.shape)) {
  if (!('shape' in schema)) continue;
  const required = Object.entries(schema.shape).filter(([, member]) => !member.safeParse(undefined).success);
  REQUIRED_MEMBERS.set(
    section,
    required.map(([name]) => name),
  );
}

/** First problem first, at most three, joined by "; ". @param message what was validated */
export function describeIssues(issues: readonly SchemaIssue[], message: object): string {
  return issues
    .slice(0, ISSUE_COUNT_MAX)
    .flatMap((issue) => describeIssue(issue, message))
    .slice(0, ISSUE_COUNT_MAX)
    .join('; ');
}

function describeIssue(issue: SchemaIssue, message: object): string[] {
  const path = issue.path.reduce<string>(joinPath, '');
  const value = valueAt(message, issue.path);
  if (value === undefined || value === null) {
    // A section that is not there at all is told by what it would have to hold.
    const members = REQUIRED_MEMBERS.get(path)?.map((member) => joinPath(path, member)) ?? [path];
    return members.map((member) => `missing required field: ${member}`);
  }
  const expected = expectationOf(issue);
  return [`invalid value for ${path}: expected ${expected}, got ${gotOf(issue, value, expected)}`];
}

function valueAt(message: object, path: readonly PropertyKey[]): unknown {
  let value: unknown = message;
  for (const part of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[part];
  return value;
}

const TYPE_WORDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  record: 'an object',
};

function expectationOf(issue: SchemaIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_WORDS[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.join(', ')}`;
    case 'invalid_format':
      // A pattern of the schema's own says what it is for.
      return issue.format === 'regex' ? issue.message : issue.format;
    case 'too_small':
      return boundOf(issue, 'at least', issue.minimum);
    case 'too_big':
      return boundOf(issue, 'at most', issue.maximum);
    case 'invalid_union':
      return unionExpectationOf(issue.errors);
    default:
      return issue.message;
  }
}

function boundOf(issue: { origin: string }, word: string, bound: number | bigint): string {
  if (issue.origin === 'string')
    return `text of ${word} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  if (issue.origin === 'array') return `an array of ${word} ${bound} elements`;
  return `a number of ${word} ${bound}`;
}

/** What each of the alternatives would have taken. */
const unionExpectationOf = (alternatives: readonly (readonly SchemaIssue[])[]): string =>
  alternatives.flatMap((issues) => (issues[0] ? [expectationOf(issues[0])] : [])).join(' or ');

/** A text or list that is too long is told by its length. */
function gotOf(issue: SchemaIssue, value: unknown, expected: string): string {
  if (issue.code === 'too_big' && Array.isArray(value)) return `${value.length} elements`;
  if (issue.code === 'too_big' && typeof value === 'string') return `${value.length} characters`;
  return value === '' ? 'empty text' : kindOf(value, expected);
}

const KIND_WORDS: Partial<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
};
/** Where its kind is the expected one it is another of them. */
const OTHER_WORDS: Partial<Record<string, string>> = { string: 'other text', number: 'another number' };
const NUMBER_EXPECTED = /^a (whole |finite )?number/;
const NO_TEXT_EXPECTED = /^(a (whole |finite )?number|an object$|an array|a JSON |true or false)/;

/** What a value is, not what it says. */
export function kindOf(value: unknown, expected: string): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  const isOther =
    typeof value === 'string' ? !NO_TEXT_EXPECTED.test(expected) : NUMBER_EXPECTED.test(expected);
  return (isOther ? OTHER_WORDS[typeof value] : undefined) ?? KIND_WORDS[typeof value] ?? typeof value;
}
