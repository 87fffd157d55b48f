/** What a trusted reverse proxy says of a request. Of several entries the last one is its own; those before came with the request. */
import type { IncomingHttpHeaders } from 'node:http';

/** @returns undefined where it says nothing */
export function saidByProxy(
  headers: IncomingHttpHeaders,
  name: 'x-forwarded-host' | 'x-forwarded-proto',
): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.at(-1) : value)?.split(',').at(-1)?.trim() || undefined;
}

/** Headers a reverse proxy adds: with one of them a peer speaks for somebody else. */
const FORWARDING_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'x-real-ip',
  'via',
];

export const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  FORWARDING_HEADERS.some((name) => headers[name] !== undefined);

/** Host and port by which the caller found this gateway. @param trustProxy its proxy says so */
export const askedHost = (headers: IncomingHttpHeaders, trustProxy: boolean): string | undefined =>
  (trustProxy ? saidByProxy(headers, 'x-forwarded-host') : undefined) ?? headers.host;
