/**
 * A schema's complaints as sentences for the sender. They also end up in `violation_reason`, which is published,
 * stored and logged, so they tell kinds and lengths and never quote a value: it might be anything, a secret too.
 */
import type { z } from 'zod';

type SchemaIssue = z.core.$ZodIssue;

const ISSUE_COUNT_MAX = 3;

/**
 * First problem first, at most three, joined by "; ".
 *
 * @param message what was validated
 * @param required what has to stand in a section: one that is not there at all is told by it
 */
export function describeIssues(
  issues: readonly SchemaIssue[],
  message: object,
  required: ReadonlyMap<string, readonly string[]> = new Map(),
): string {
  return issues
    .slice(0, ISSUE_COUNT_MAX)
    .flatMap((issue) => describeIssue(issue, message, required))
    .slice(0, ISSUE_COUNT_MAX)
    .join('; ');
}

function describeIssue(
  issue: SchemaIssue,
  message: object,
  required: ReadonlyMap<string, readonly string[]>,
): string[] {
  const path = issue.path.reduce<string>(joinPath, '');
  const value = valueAt(message, issue.path);
  if (value === undefined || value === null) {
    const members = required.get(path)?.map((member) => joinPath(path, member)) ?? [path];
    return members.map((member) => `missing required field: ${member}`);
  }
  const { words, kind } = expectationOf(issue);
  return [`invalid value for ${path}: expected ${words}, got ${gotOf(issue, value, kind)}`];
}

function valueAt(message: object, path: readonly PropertyKey[]): unknown {
  let value: unknown = message;
  for (const part of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[part];
  return value;
}

/** What a value is, whatever it says. */
type Kind = 'text' | 'number' | 'boolean' | 'object' | 'array';

interface Expectation {
  /** As they follow "expected". */
  words: string;
  /** Null: several would do, or it is not known. */
  kind: Kind | null;
}

const TYPES: Partial<Record<string, Expectation>> = {
  string: { words: 'text', kind: 'text' },
  number: { words: 'a number', kind: 'number' },
  int: { words: 'a whole number', kind: 'number' },
  boolean: { words: 'true or false', kind: 'boolean' },
  object: { words: 'an object', kind: 'object' },
  array: { words: 'an array', kind: 'array' },
  record: { words: 'an object', kind: 'object' },
};

function expectationOf(issue: SchemaIssue): Expectation {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? { words: issue.expected, kind: null };
    case 'invalid_value':
      return { words: `one of ${issue.values.join(', ')}`, kind: 'text' };
    case 'invalid_format':
      // A pattern of the schema's own says what it is for.
      return { words: issue.format === 'regex' ? issue.message : issue.format, kind: 'text' };
    case 'too_small':
      return boundOf(issue, 'at least', issue.minimum);
    case 'too_big':
      return boundOf(issue, 'at most', issue.maximum);
    case 'invalid_union':
      return { words: alternativesOf(issue.errors), kind: null };
    default:
      return { words: issue.message, kind: null };
  }
}

function boundOf(issue: { origin: string }, word: string, bound: number | bigint): Expectation {
  if (issue.origin === 'string') {
    const unit = bound === 1 ? 'character' : 'characters';
    return { words: `text of ${word} ${bound} ${unit}`, kind: 'text' };
  }
  if (issue.origin === 'array') return { words: `an array of ${word} ${bound} elements`, kind: 'array' };
  return { words: `a number of ${word} ${bound}`, kind: 'number' };
}

/** What each of a union's alternatives would have taken. */
const alternativesOf = (alternatives: readonly (readonly SchemaIssue[])[]): string =>
  alternatives.flatMap((issues) => (issues[0] ? [expectationOf(issues[0]).words] : [])).join(' or ');

/** A text or list that is too long is told by its length. */
function gotOf(issue: SchemaIssue, value: unknown, expected: Kind | null): string {
  if (issue.code === 'too_big' && Array.isArray(value)) return `${value.length} elements`;
  if (issue.code === 'too_big' && typeof value === 'string') return `${value.length} characters`;
  return value === '' ? 'empty text' : describeKind(value, expected);
}

/** What a value is, not what it says. @param expected a value of that kind is "other text", "another number" */
export function describeKind(value: unknown, expected: Kind | null): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  switch (typeof value) {
    case 'string':
      return expected === 'text' ? 'other text' : 'text';
    case 'number':
      return expected === 'number' ? 'another number' : 'a number';
    case 'boolean':
      return 'a boolean';
    case 'object':
      return 'an object';
    default:
      return typeof value;
  }
}

/** `action.tool_input`, `cognition.reasoning_chain[3]`; keys a stranger made up are cut short. */
export function joinPath(path: string, part: PropertyKey): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  const key = String(part);
  const shown = key.length > 80 ? `${key.slice(0, 80)}...` : key;
  return path === '' ? shown : `${path}.${shown}`;
}
