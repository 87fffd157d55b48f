/** What a caller wants of the cache, and what its request is to the cache. */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import {
  CACHE_CONTROLS,
  type CacheControl,
  type CanonicalRequest,
  HEADERS,
  ObservatoryError,
} from '#contracts';
import { answerHeaders, type CacheIdentity, cacheIdentity, isStateful } from '#domain/llm-cache';
import { readsRemoteContent } from '#domain/llm-dialects';
import { holdsRoundedNumber } from '../json-bounds.js';
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
  // Two requests that the parser makes equal need not be.
  if (dialect === null || call.body?.read(mayBeAnother)) return null;
  const canonical = dialect.canonicalRequest(body, path, target.query);
  // What lies at an address may be another image by now.
  if (isStateful(canonical) || readsRemoteContent(canonical)) return null;
  // Where the vendor knows the caller by its own key, one caller's answers are not another's. Tokens in the query always
  // reach the vendor, and are in the canonical request.
  const withCredentials = upstream.apiKey === null;
  const headers = answerHeaders(incoming.rawHeaders, { withCredentials });
  if (withCredentials) headers['?key'] = queryKeys(target.query);
  // Whoever goes on from an answer that its vendor keeps is in its session: two users with one of the same id would share theirs.
  if (canonical.rest.store === true) headers['?user'] = call.request?.end_user ?? '';
  const identity = cacheIdentity(canonical, {
    tenantId: call.tenantId,
    // A name can be pointed elsewhere.
    upstream: `${upstream.name} ${upstream.origin}${upstream.basePath}`,
    headers,
  });
  return identity === null ? null : { canonical, identity };
}

/** The parser makes one character of all bytes that are none, and one number of those that it rounds to it. */
const mayBeAnother = (bytes: Buffer): boolean => !isUtf8(bytes) || holdsRoundedNumber(bytes);

/** All of them: which of two a vendor goes by is its own business. */
const queryKeys = (query: string): string =>
  query === '' ? '' : new URLSearchParams(query).getAll('key').join('\0');
