/** Reads the prompts that FT.SEARCH found, and trusts none of them. */
import { cosineOfDistance, type PromptMatch } from '#contracts/embedding';
import { searchDocuments } from '../search-documents.js';
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

/** In the order given, without what has expired. @throws PromptHistoryFailure, `failed`: this is no such reply */
export function readSearchReply(reply: unknown): PromptMatch[] {
  const documents = searchDocuments(reply);
  if (documents === null) throw nonsenseReply();
  return documents.flatMap(({ fields }) => {
    const match = fields && readDocument(fields);
    return match === null ? [] : [match];
  });
}

/** Null: expired. */
function readDocument(fields: ReadonlyMap<string, unknown>): PromptMatch | null {
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

function numberOf(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw nonsenseReply();
  return number;
}
