/**
 * Numbers under which `step_keys` finds steps: 44 bits of SHA-256, which SQLite stores in six bytes. Two texts may
 * share a number, so whoever finds a step by one still compares its columns; that many do cannot be arranged.
 */
import { hash } from 'node:crypto';

const KEY_DIGITS = 11;

export const sessionKeyOf = (tenantId: string, sessionId: string): number =>
  keyOf(`s${tenantId.length} ${tenantId}${sessionId}`);

export const traceKeyOf = (tenantId: string, traceId: string): number =>
  keyOf(`t${tenantId.length} ${tenantId}${traceId}`);

/** Second part of a trace's key, 32 bits: keeps apart the messages of a sender that uses one trace id for all. */
export const partOf = (bodyHash: string): number => Number.parseInt(bodyHash.slice(0, 8), 16) | 0;

/** Second part of a session's key. */
export const NO_PART = 0;

const keyOf = (text: string): number => Number.parseInt(hash('sha256', text).slice(0, KEY_DIGITS), 16);
