/**
 * Which headers cross the proxy. Both ways: never those of the connection itself (RFC 9110, 7.6.1), whatever a peer
 * names in `Connection` included. To the upstream: nothing of ours, no cookie, nothing about who is in front.
 */

import { HEADERS } from '#contracts';
import { PROXY_HEADERS } from '../../errors/security-headers.js';
import { KEY_HEADERS } from '../upstreams/carried-keys.js';

const CONNECTION = 'connection';

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  CONNECTION,
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers by which one answer rules over its whole origin, beyond itself. The origin is ours, not the upstream's. */
const RULES_ORIGIN: readonly string[] = [
  'alt-svc',
  'clear-site-data',
  'nel',
  'public-key-pins',
  'public-key-pins-report-only',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-login',
  'strict-transport-security',
];

/** What rules our origin; and what each answer has one of ours of. */
const NOT_FOR_CLIENT: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...RULES_ORIGIN,
  ...Object.keys(PROXY_HEADERS),
  'content-security-policy-report-only',
  HEADERS.call,
  HEADERS.decision,
  HEADERS.cache,
  HEADERS.cacheAge,
  HEADERS.cacheCosine,
]);

/** Set anew by the client library, or none of the upstream's business. `accept-encoding`: answers must be readable. */
const NOT_FOR_UPSTREAM: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'accept-encoding',
  'cookie',
  'forwarded',
  'via',
  'x-real-ip',
  'x-tenant-id',
]);

const isOurs = (name: string): boolean =>
  name.startsWith('x-observatory-') || name.startsWith('x-forwarded-');

/** @param raw as Node has them: name, value, name, value ... @param dropKeys when a key of ours is put in */
export function requestHeaders(raw: readonly string[], dropKeys: boolean): string[] {
  const named = namedByConnection(raw);
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    if (NOT_FOR_UPSTREAM.has(name) || named?.has(name)) continue;
    if (isOurs(name)) continue;
    if (dropKeys && KEY_HEADERS.has(name)) continue;
    kept.push(name, raw[at + 1] as string);
  }
  return kept;
}

/**
 * @param raw name, value, name, value ... as the upstream sent them
 * @param replaced by headers of ours, lower case
 */
export function responseHeaders(
  raw: readonly string[],
  replaced: Readonly<Record<string, string>>,
): string[] {
  const named = namedByConnection(raw);
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    if (NOT_FOR_CLIENT.has(name) || Object.hasOwn(replaced, name) || named?.has(name)) continue;
    kept.push(raw[at] as string, raw[at + 1] as string);
  }
  return kept;
}

export function headerOf(raw: readonly string[], name: string): string | undefined {
  for (let at = 0; at < raw.length; at += 2) {
    const one = raw[at] as string;
    if (one.length === name.length && one.toLowerCase() === name) return raw[at + 1];
  }
  return undefined;
}

/** An answer's type is the same in any letters. */
export const isEventStream = (raw: readonly string[]): boolean =>
  EVENT_STREAM.test(headerOf(raw, 'content-type') ?? '');
const EVENT_STREAM = /^text\/event-stream/i;

/** Lower case, in the order in which they were applied; none: it is plain. */
export function encodingsOf(raw: readonly string[]): string[] {
  const encodings: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const one = raw[at] as string;
    if (one.length !== ENCODING.length || one.toLowerCase() !== ENCODING) continue;
    for (const named of (raw[at + 1] as string).toLowerCase().split(',')) {
      const encoding = named.trim();
      if (encoding !== '' && encoding !== 'identity') encodings.push(encoding);
    }
  }
  return encodings;
}
const ENCODING = 'content-encoding';

/** Of every such header: there may be more than one. */
function namedByConnection(raw: readonly string[]): Set<string> | null {
  let named: Set<string> | null = null;
  for (let at = 0; at < raw.length; at += 2) {
    const one = raw[at] as string;
    if (one.length !== CONNECTION.length || one.toLowerCase() !== CONNECTION) continue;
    const value = (raw[at + 1] as string).toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    named ??= new Set();
    for (const name of value.split(',')) named.add(name.trim());
  }
  return named;
}
