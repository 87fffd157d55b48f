/** What a caller wants of the cache, and what its request is to the cache. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  CACHE_CONTROLS,
  type CacheControl,
  type CanonicalRequest,
  HEADERS,
  ObservatoryError,
} from '#contracts';
import { answerHeaders, type CacheIdentity, cacheIdentity } from '#domain/llm-cache';
import type { ProxyCall } from '../llm-proxy/proxy-call.js';

/**
 * `x-observatory-cache`, else what `cache-control` says in its own words; null: as usual.
 * @throws ObservatoryError invalid_request for a word that means nothing
 */
export function cacheControlOf(headers: IncomingHttpHeaders): CacheControl | null {
  const given = headers[HEADERS.cache];
  if (typeof given === 'string') {
    const control = CACHE_CONTROLS.find((one) => one === given.trim().toLowerCase());
    if (control !== undefined) return control;
    throw new ObservatoryError(
      'invalid_request',
      `${HEADERS.cache}: give one of ${CACHE_CONTROLS.join(', ')}, or leave it out.`,
    );
  }
  const general = headers['cache-control']?.toLowerCase() ?? '';
  if (/\bno-store\b/.test(general)) return 'bypass';
  return /\bno-cache\b/.test(general) ? 'refresh' : null;
}

export interface IdentifiedRequest {
  canonical: CanonicalRequest;
  identity: CacheIdentity;
}

/** Null: the cache has nothing to do with such a request. */
export function identify(call: ProxyCall, body: unknown): IdentifiedRequest | null {
  const { dialect, upstream, incoming, path, target } = call;
  if (dialect === null) return null;
  const canonical = dialect.canonicalRequest(body, path, target.query);
  const headers = answerHeaders(incoming.rawHeaders);
  // Where the vendor knows the caller by its own key, one caller's answers are not another's.
  if (upstream.apiKey === null) headers.credential = credentialDigest(call);
  const identity = cacheIdentity(canonical, { tenantId: call.tenantId, upstream: upstream.name, headers });
  return identity === null ? null : { canonical, identity };
}

const VENDOR_KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const;

function credentialDigest({ incoming: { headers }, target }: ProxyCall): string {
  const hash = createHash('sha256');
  for (const name of VENDOR_KEY_HEADERS) hash.update(`${String(headers[name] ?? '')}\n`);
  return hash.update(new URLSearchParams(target.query).get('key') ?? '').digest('hex');
}
