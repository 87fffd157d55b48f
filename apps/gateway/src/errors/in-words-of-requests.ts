/** What zod says of a value ("Too big: expected number to be <=55"), in words of a request: "must be at most 55". */
import { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'a JSON object',
  record: 'a JSON object',
};
const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL that begins with http:// or https://',
  email: 'an e-mail address such as ann@example.com',
};
/** What is counted of it: one, several. */
const UNITS: Readonly<Record<string, readonly [string, string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];
type Bound = Extract<RawIssue, { code: 'too_small' | 'too_big' }>;

/** Undefined: as the schema itself puts it. The dashboard reads bounds of these. */
export const inWordsOfRequests: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'unrecognized_keys':
      return ['there is no such field', ...knownFields(issue.inst)].join('; known are ');
    case 'too_small':
      if (issue.minimum === 1 && issue.origin in UNITS) return 'must not be empty';
      return inWords(issue, issue.inclusive ? 'at least' : 'more than', issue.minimum);
    case 'too_big':
      return inWords(issue, issue.inclusive ? 'at most' : 'less than', issue.maximum);
    default: {
      const expected = expectedBy(issue);
      const lead = issue.input === undefined ? 'missing; ' : '';
      return expected === undefined ? undefined : `${lead}expected ${expected}`;
    }
  }
};

function inWords({ origin }: Bound, word: string, bound: number | bigint): string {
  const [one, several] = UNITS[origin] ?? [];
  return one === undefined
    ? `must be ${word} ${bound}`
    : `must have ${word} ${bound} ${Number(bound) === 1 ? one : several}`;
}

function expectedBy(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_format':
      return FORMATS[issue.format];
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return 'options' in issue ? oneOf(issue.options as string[]) : alternatives(issue.errors);
    default:
      return undefined;
  }
}

const oneOf = (values: readonly unknown[]): string =>
  `${values.length > 1 ? 'one of ' : ''}${values.map((value) => JSON.stringify(value)).join(', ')}`;

/** What each of a union would have taken, by what is said first of it. */
const alternatives = (errors: readonly (readonly z.core.$ZodIssue[])[]): string =>
  errors.map(([first]) => first?.message.replace(/^(missing; )?expected /, '')).join(' or ');

/** Of the object with an unknown one: a list in words, or nothing where its schema has none. */
function knownFields(schema: unknown): string[] {
  const names = schema instanceof z.core.$ZodObject ? Object.keys(schema._zod.def.shape) : [];
  return names.length > 0 ? [names.join(', ')] : [];
}
