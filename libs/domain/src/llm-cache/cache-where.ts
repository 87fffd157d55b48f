/** Whose entry it is and where its answer comes from: first in every key and scope. */
import { canonicalHash } from './canonical-hash.js';

export interface CacheWhere {
  tenantId: string;
  /** Configured name: equal requests to two upstreams are two requests. */
  upstream: string;
  /** See `answerHeaders`. */
  headers?: Readonly<Record<string, string>>;
}

/** Request headers that change what a vendor answers; keys and ids of requests are not among them. */
const ANSWER_HEADERS = new Set([
  'anthropic-beta',
  'anthropic-version',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'x-goog-user-project',
]);

/** @param headers as they came: name, value, name, value ... */
export function answerHeaders(headers: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (!ANSWER_HEADERS.has(name)) continue;
    const value = headers[at + 1] as string;
    kept[name] = kept[name] === undefined ? value : `${kept[name]}, ${value}`;
  }
  return kept;
}

/** The digests a key begins with. */
export const whereDigests = ({ tenantId, upstream, headers = {} }: CacheWhere): (string | null)[] => [
  canonicalHash(tenantId),
  canonicalHash(upstream),
  canonicalHash(headers),
];
