/**
 * Reads what FT.SEARCH answers, in either shape, and trusts none of it:
 *
 *     RESP2                 [total, key, [field, value, ...], key, [...], ...]
 *     RESP3, as a map       { total_results, results: [{ id, extra_attributes: { field: value } }], ... }
 *     RESP3, made flat      ['total_results', n, 'results', [['id', key, 'extra_attributes', [field, value]]], ...]
 *
 * A document that expired while it was being found has null, or nothing, in place of its fields: it is left out.
 */
import { cosineOfDistance, type PromptMatch } from '#contracts/embedding';
import { nonsenseReply } from './search-failure.js';

/** As named in the search; `DISTANCE` is none of the schema's. */
export const FIELDS = {
  requestId: 'request_id',
  prompt: 'prompt',
  atMs: 'at_ms',
  distance: 'distance',
} as const;

/** Float32 arithmetic leads a little below 0 for equal vectors, and above 2 for opposite ones. */
const DISTANCE_TOLERANCE = 0.01;

/** In the order given. @throws PromptHistoryFailure, `failed`: this is no such reply */
export function readSearchReply(reply: unknown): PromptMatch[] {
  return documentsOf(reply).flatMap((fields) => {
    const match = readDocument(fields);
    return match === null ? [] : [match];
  });
}

function documentsOf(reply: unknown): unknown[] {
  if (Array.isArray(reply) && typeof reply[0] === 'number') {
    if (reply.length % 2 !== 1) throw nonsenseReply();
    return reply.filter((_, index) => index > 0 && index % 2 === 0);
  }
  const results = pairsOf(reply)?.get('results');
  if (!Array.isArray(results)) throw nonsenseReply();
  return results.map((result) => {
    const document = pairsOf(result);
    if (document === null) throw nonsenseReply();
    return document.get('extra_attributes');
  });
}

/** Null: expired. */
function readDocument(value: unknown): PromptMatch | null {
  if (value === null || value === undefined) return null;
  const fields = pairsOf(value);
  if (fields === null) throw nonsenseReply();
  const requestId = fields.get(FIELDS.requestId);
  const prompt = fields.get(FIELDS.prompt);
  // The distance comes from the index; when the hash is gone, it comes alone.
  if (requestId === undefined && prompt === undefined) return null;
  const atMs = numberOf(fields.get(FIELDS.atMs));
  const distance = numberOf(fields.get(FIELDS.distance));
  if (typeof requestId !== 'string' || typeof prompt !== 'string') throw nonsenseReply();
  if (distance < -DISTANCE_TOLERANCE || distance > 2 + DISTANCE_TOLERANCE) throw nonsenseReply();
  return {
    request_id: requestId,
    prompt,
    at_ms: atMs,
    cosine: cosineOfDistance(Math.max(0, Math.min(2, distance))),
  };
}

/** Of a flat list of names and values, or of an object; null for anything else. */
function pairsOf(value: unknown): Map<string, unknown> | null {
  if (Array.isArray(value)) {
    if (value.length % 2 !== 0) return null;
    const pairs = new Map<string, unknown>();
    for (let index = 0; index < value.length; index += 2) {
      if (typeof value[index] !== 'string') return null;
      pairs.set(value[index], value[index + 1]);
    }
    return pairs;
  }
  if (value instanceof Map) return value;
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

function numberOf(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw nonsenseReply();
  return number;
}
