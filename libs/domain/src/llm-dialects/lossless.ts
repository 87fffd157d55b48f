/**
 * Whether what was read of an answer is all there was. Dialects name the members they read and those that are mere
 * book-keeping; any other member must say nothing, so that what a vendor adds tomorrow counts as lost, not as absent.
 */
import { asRecord, type JsonRecord } from './read-json.js';

/** Objects in objects are looked into no deeper. */
const NOTHING_DEPTH_MAX = 3;
const NUMBERS_DEPTH_MAX = 128;
const FINDINGS_DEPTH_MAX = 8;

/** Null, false, "", an empty list, and an object of nothing else. */
export function isNothing(value: unknown, depth = 0): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object' || depth >= NOTHING_DEPTH_MAX) return false;
  return Object.values(value).every((member) => isNothing(member, depth + 1));
}

/** Whether every member that is not named says nothing. */
export function saysOnly(record: JsonRecord, names: ReadonlySet<string>): boolean {
  for (const name of Object.keys(record)) if (!names.has(name) && !isNothing(record[name])) return false;
  return true;
}

export const isTextOrNone = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string';

/**
 * An object whose JSON text, written anew, says the same: JSON.parse has rounded whole numbers beyond 2^53, such as
 * an id of 64 bits, and made infinite what is beyond all numbers; nobody can tell what they were.
 */
export const isExactObject = (value: unknown): boolean =>
  asRecord(value) !== undefined && hasExactNumbers(value);

export function hasExactNumbers(value: unknown, depth = 0): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= NUMBERS_DEPTH_MAX) return false;
  return Object.values(value).every((member) => hasExactNumbers(member, depth + 1));
}

/**
 * Whether a vendor's filters (Azure's, beside prompts and answers) let pass what they looked at and found nothing to tell:
 * grades and positions are book-keeping, whatever is true of it is not, nor is a filter's error or a text's source.
 */
export const hasNoFindings = (results: unknown): boolean =>
  isNothing(results) || (typeof results === 'object' && isClear(results, 0));

function isClear(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return value !== true;
  if (depth >= FINDINGS_DEPTH_MAX) return false;
  return Object.entries(value).every(([name, member]) =>
    name === 'error' || name === 'citation' ? isNothing(member) : isClear(member, depth + 1),
  );
}
