/**
 * 32 bits, signed, by which tuples are told apart before anybody reads their texts. Equal tuples have equal digests; unequal
 * ones usually not, and never where the status differs, which a digest holds.
 */
import { ACTION_STATUSES, type ActionStatus } from '#contracts';
import { unitAt } from '#kernel';

/**
 * Characters of a text that go into its digest, spread over it: most texts whole. With a dozen, texts that differ in one
 * number met so often that comparing them took a third of the time.
 */
const CHARS_BITS = 6;
const CHARS_MAX = 1 << CHARS_BITS;

/** Where a digest holds the status: its place in this list. */
const STATUSES: readonly string[] = ['', ...ACTION_STATUSES];
const STATUS_BITS = 7;
/** An equal tuple came later, so that this one counts no more: neither when it is looked for nor when it leaves. */
const REPEATED_BIT = 8;

/** FNV-1a over some of the text's characters, its last among them, and its length. */
export function sampleDigest(text: string): number {
  let digest = text.length;
  const step = (text.length + CHARS_MAX - 1) >>> CHARS_BITS;
  for (let at = text.length - 1; at >= 0; at -= step)
    digest = Math.imul(digest ^ unitAt(text, at), 0x01000193);
  return digest;
}

/** Of a tuple, from its texts' digests. */
export const tupleDigest = (intentDigest: number, toolDigest: number, status: ActionStatus): number =>
  ((Math.imul(intentDigest, 31) + toolDigest) & ~(STATUS_BITS | REPEATED_BIT)) | placeOf(status);

export const statusOf = (digest: number) => STATUSES[digest & STATUS_BITS] as ActionStatus;

/** Unlike that of any tuple that is looked for. */
export const asRepeated = (digest: number) => digest | REPEATED_BIT;

export const isRepeated = (digest: number) => (digest & REPEATED_BIT) !== 0;

function placeOf(status: ActionStatus): number {
  for (let place = STATUSES.length - 1; place > 0; place -= 1) if (STATUSES[place] === status) return place;
  return 0;
}
