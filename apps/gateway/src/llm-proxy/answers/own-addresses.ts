/**
 * Answers that send their caller on to an address of the upstream: a redirect, the place of an upload in pieces, the results
 * of a batch. Who goes there goes around the proxy, and takes along a key that the upstream must not see and would refuse. So
 * such an address is given as ours. But for our key (`key-mask.ts`) no other bytes of an answer are ever changed.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { HEADERS } from '#contracts';
import { BytePieces } from '#kernel';
import type { GatewayConfig } from '../../config/config.js';
import { askedHost, saidByProxy } from '../../forwarded-host.js';
import type { ProxyCall } from '../proxy-call.js';
import { KEY_HEADERS } from '../upstreams/carried-keys.js';
import type { UpstreamTarget } from '../upstreams/upstream-directory.js';
import { encodingsOf, headerOf } from './forwarded-headers.js';

/** Of Google's uploads; both name the same place. */
const UPLOAD_HEADERS: ReadonlySet<string> = new Set(['x-goog-upload-url', 'x-goog-upload-control-url']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A page of the most batches that Anthropic lists at once has a quarter. What is larger goes by as it came. */
const BATCHES_BYTES_MAX = 4 * 1024 * 1024;
/** Anthropic's: batches, and one batch. Its results themselves name no address, and are large. */
const BATCHES = /\/messages\/batches(?:\/[^/]+(?:\/cancel)?)?\/?$/;
/** What stands within a text has its quotes escaped, and is left alone. */
const RESULTS_URL = /("results_url"\s*:\s*")([^"\\]+)(?=")/g;

/** Scheme, host and port by which the caller of a request finds this gateway; "" where it names no host. */
export type OwnOrigin = (headers: IncomingHttpHeaders) => string;

/** Behind a proxy that is trusted, as that one was called. */
export const ownOriginOf =
  ({ publicUrl, trustProxy }: Pick<GatewayConfig, 'publicUrl' | 'trustProxy'>): OwnOrigin =>
  (headers) => {
    if (publicUrl !== null) return publicUrl;
    const host = askedHost(headers, trustProxy);
    const scheme = (trustProxy ? saidByProxy(headers, 'x-forwarded-proto') : undefined) ?? 'http';
    return host === undefined ? '' : `${scheme}://${host}`;
  };

/**
 * An address below the upstream's base as a path of ours, its query included; null for any other.
 *
 * @param address absolute, or relative to the call's own
 */
export function ownPath({ upstream, path, target, incoming }: ProxyCall, address: string): string | null {
  const { origin, basePath, kind } = upstream;
  const url = parseUrl(address, `${origin}${basePath}${path}`);
  if (url?.origin !== origin || !`${url.pathname}/`.startsWith(`${basePath}/`)) return null;
  const asked = incoming.url as string;
  const prefix = asked.slice(0, asked.length - target.path.length - target.query.length);
  return `${prefix}${kind === 'openai' ? '/v1' : ''}${url.pathname.slice(basePath.length)}${url.search}${url.hash}`;
}

/** Writes our addresses over the upstream's. @param headers name, value, name, value ... */
export function nameOwnAddresses(call: ProxyCall, headers: string[], ownOrigin: OwnOrigin): void {
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    const address = headers[at + 1] as string;
    if (name === 'location') headers[at + 1] = ownPath(call, address) ?? meant(call, address);
    else if (UPLOAD_HEADERS.has(name)) headers[at + 1] = absolute(call, address, ownOrigin) ?? address;
  }
}

/**
 * Where a redirect leads that a client must not be sent to: outside the upstream's base, with a key that clients take along.
 * A bearer key they leave behind when they change hosts, so that from http to https of one host, where the base URL should have
 * led, they would come without any. Null: it may be passed on.
 */
export function redirectRefused(call: ProxyCall, status: number, headers: readonly string[]): string | null {
  const address = REDIRECTS.has(status) ? headerOf(headers, 'location') : undefined;
  if (address === undefined || ownPath(call, address) !== null) return null;
  const url = parseUrl(address, call.upstream.origin);
  const carriesKey = Object.keys(call.incoming.headers).some(isKeptByClients);
  return carriesKey || isSecured(url, call.upstream) ? (url?.origin ?? 'no address') : null;
}

const isSecured = (url: URL | null, { origin }: UpstreamTarget): boolean =>
  url?.protocol === 'https:' && origin.startsWith('http:') && url.hostname === new URL(origin).hostname;

const isKeptByClients = (name: string): boolean =>
  name === HEADERS.agentKey || (KEY_HEADERS.has(name) && name !== 'authorization');

/** An answer about batches, held back with its head until it is whole, which it soon is: null for any other. */
export class BatchAnswer {
  readonly #call: ProxyCall;
  readonly #ownOrigin: OwnOrigin;
  readonly #bytes = new BytePieces();

  private constructor(call: ProxyCall, ownOrigin: OwnOrigin) {
    this.#call = call;
    this.#ownOrigin = ownOrigin;
  }

  /** @param headers of a good answer, name, value, name, value ... */
  static for(call: ProxyCall, headers: readonly string[], ownOrigin: OwnOrigin): BatchAnswer | null {
    const isReadable = encodingsOf(headers).length === 0;
    return isReadable && call.dialect === null && BATCHES.test(call.path)
      ? new BatchAnswer(call, ownOrigin)
      : null;
  }

  /**
   * What may go on now: nothing, or all of what can be held back no longer, which then goes by as it came.
   *
   * @param hasRoom false: there is none for these bytes
   */
  push(bytes: Buffer, hasRoom: boolean): Buffer | null {
    this.#bytes.push(bytes);
    return hasRoom && this.#bytes.byteCount <= BATCHES_BYTES_MAX ? null : this.#bytes.toBuffer();
  }

  /** What is left, with our addresses. A character for each byte: no other byte is touched. */
  finish(): Buffer {
    const text = this.#bytes.toBuffer().toString('latin1');
    const told = text.replaceAll(RESULTS_URL, (whole, before: string, address: string) => {
      const own = absolute(this.#call, address, this.#ownOrigin);
      return own === null ? whole : before + own;
    });
    return Buffer.from(told, 'latin1');
  }
}

function absolute(call: ProxyCall, address: string, ownOrigin: OwnOrigin): string | null {
  const path = ownPath(call, address);
  return path === null ? null : ownOrigin(call.incoming.headers) + path;
}

/** As the upstream meant it: from our address a relative one would lead elsewhere. */
const meant = ({ upstream, path }: ProxyCall, address: string): string =>
  parseUrl(address, `${upstream.origin}${upstream.basePath}${path}`)?.href ?? address;

const parseUrl = (address: string, base: string): URL | null =>
  URL.canParse(address, base) ? new URL(address, base) : null;
