/**
 * Numbers under which `step_keys` finds steps: 44 bits of SHA-256, which SQLite stores in six bytes. Two texts may
 * share a number, so whoever finds a step by one still compares its columns; that many do cannot be arranged.
 */
import { hash } from 'node:crypto';

const KEY_DIGITS = 11;
const PART_CHARS = 6;

export const sessionKeyOf = (tenantId: string, sessionId: string): number =>
  keyOf(`s${tenantId.length} ${tenantId}${sessionId}`);

export const traceKeyOf = (tenantId: string, traceId: string): number =>
  keyOf(`t${tenantId.length} ${tenantId}${traceId}`);

/**
 * Second part of a trace's key: keeps apart the messages of a sender that uses one trace id for all.
 *
 * @param bodyHash base64url; its first 32 bits are taken
 */
export const partOf = (bodyHash: string): number =>
  Buffer.from(bodyHash.slice(0, PART_CHARS).padEnd(PART_CHARS, 'A'), 'base64url').readInt32BE(0);

/** Second part of a session's key. */
export const NO_PART = 0;

/**
 * Steps of one segment of `step_keys`, which keeps together what is new: the pages that a generation falls on are then as
 * few in a large database as in a small one, and retention works through one segment after the other.
 */
export const SEGMENT_STEPS = 2 ** 18;

/** First part of an entry. */
export const segmentOf = (seq: number, segmentSteps: number): number => Math.floor(seq / segmentSteps);

const keyOf = (text: string): number => Number.parseInt(hash('sha256', text).slice(0, KEY_DIGITS), 16);
