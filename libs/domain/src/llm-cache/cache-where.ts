/** Whose entry it is and where its answer comes from: first in every key and scope. */
import { canonicalHash } from './canonical-hash.js';

export interface CacheWhere {
  tenantId: string;
  /** Where it goes: equal requests to two places are two requests. */
  upstream: string;
  /** See `answerHeaders`. */
  headers?: Readonly<Record<string, string>>;
}

/** Request headers that change nothing about the answer. Any other does, as far as we know: a header names it apart. */
const IDLE_HEADERS = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'anthropic-dangerous-direct-browser-access',
  'baggage',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'date',
  'dnt',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'keep-alive',
  'origin',
  'pragma',
  'priority',
  'referer',
  'te',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-client-request-id',
  'x-goog-api-client',
  'x-real-ip',
  'x-request-id',
  'x-tenant-id',
]);
const IDLE_PREFIXES = ['sec-', 'x-forwarded-', 'x-observatory-', 'x-stainless-'] as const;

/** Who the vendor takes the caller for: of no consequence where the gateway puts its own key in. */
const CREDENTIAL_HEADERS = new Set(['api-key', 'authorization', 'x-api-key', 'x-goog-api-key']);

/**
 * @param headers as they came: name, value, name, value ...
 * @param withCredentials the upstream gets the caller's own
 */
export function answerHeaders(
  headers: readonly string[],
  { withCredentials = false }: { withCredentials?: boolean } = {},
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (IDLE_HEADERS.has(name) || IDLE_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    if (!withCredentials && CREDENTIAL_HEADERS.has(name)) continue;
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
