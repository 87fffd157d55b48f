/**
 * What FT.SEARCH found, whichever shape its reply has, of texts or of buffers:
 *
 *     RESP2                 [total, key, [field, value, ...], key, [...], ...]
 *     RESP3, as a map       { total_results, results: [{ id, extra_attributes: { field: value } }], ... }
 *     RESP3, made flat      ['total_results', n, 'results', [['id', key, 'extra_attributes', [field, value]]], ...]
 */

export interface FoundDocument {
  key: string;
  /** Null: it expired while it was being found. */
  fields: ReadonlyMap<string, unknown> | null;
}

/** In the order given; null: this is no such reply. Never throws. */
export function searchDocuments(reply: unknown): FoundDocument[] | null {
  const documents = entriesOf(reply)?.map(([key, fields]) => documentOf(key, fields));
  return documents?.every((document) => document !== null) ? documents : null;
}

function documentOf(key: unknown, value: unknown): FoundDocument | null {
  const fields = value === null || value === undefined ? null : pairsOf(value);
  return isName(key) && fields !== undefined ? { key: String(key), fields } : null;
}

function entriesOf(reply: unknown): [key: unknown, fields: unknown][] | undefined {
  if (Array.isArray(reply) && typeof reply[0] === 'number') return inPairs(reply.slice(1));
  const results = pairsOf(reply)?.get('results');
  if (!Array.isArray(results)) return undefined;
  return results.map(pairsOf).map((result) => [result?.get('id'), result?.get('extra_attributes')]);
}

/** By name: of a flat list of names and values, of a map or of an object. Undefined: it is neither. */
function pairsOf(value: unknown): Map<string, unknown> | undefined {
  const pairs = Array.isArray(value) ? inPairs(value) : membersOf(value);
  if (!pairs?.every(([name]) => isName(name))) return undefined;
  return new Map(pairs.map(([name, one]) => [String(name), one]));
}

function membersOf(value: unknown): [unknown, unknown][] | undefined {
  if (value instanceof Map) return [...value];
  return typeof value === 'object' && value !== null && !Buffer.isBuffer(value)
    ? Object.entries(value)
    : undefined;
}

/** Undefined: the last has no other. */
function inPairs(list: readonly unknown[]): [unknown, unknown][] | undefined {
  if (list.length % 2 !== 0) return undefined;
  return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at], list[2 * at + 1]]);
}

const isName = (value: unknown): boolean => typeof value === 'string' || Buffer.isBuffer(value);
