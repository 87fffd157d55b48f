/** What is said of an upstream whose answer cannot be given. Never an address: agents know their upstreams by name alone. */
import { forwardProxyFailure, UNASKED_CONTINUE, type UpstreamFailure } from '#adapters/upstream-http';
import { connectionFailure } from '#kernel';
import type { ProxyCall } from '../proxy-call.js';
import { variableName } from '../upstreams/upstream-directory.js';
import { encodingsOf, isEventStream } from './forwarded-headers.js';

export function unreachable(
  { name, source }: ProxyCall['upstream'],
  failure: UpstreamFailure,
  code: string,
): string {
  if (code === UNASKED_CONTINUE)
    return `The upstream ${name} said "100 Continue" to a request that had not asked for it, which the gateway cannot take. Have it leave that out.`;
  if (failure === 'broken')
    return `The upstream ${name} gave no answer: it closed the connection, or what it said is no HTTP.`;
  const ofProxy = forwardProxyFailure(code);
  if (ofProxy !== null)
    return `The upstream ${name} could not be reached: ${ofProxy}. Look at HTTPS_PROXY and NO_PROXY.`;
  const words = connectionFailure({ code }).words ?? code;
  const setting =
    source === 'environment' ? `OBSERVATORY_UPSTREAM_${variableName(name)}_URL` : 'Settings > Upstreams';
  const trust = words.includes('certificate') ? ', or name its authority in NODE_EXTRA_CA_CERTS' : '';
  return `The upstream ${name} could not be reached: ${words}. Look at its base URL in ${setting}${trust}.`;
}

export const unreadable = ({ name }: ProxyCall['upstream'], status: number): string =>
  `The upstream ${name} answered ${status}. The rest came compressed, which it was not asked to, and cannot be read.`;

export const redirected = ({ name }: ProxyCall['upstream'], elsewhere: string): string =>
  `The upstream ${name} redirects to ${elsewhere}, outside its base URL, where no agent key may go. Set the base URL of ${name} to where the API is.`;

/** Why an answer cannot go on in a stream that was begun without it; null: it can. */
export function misfitOf(status: number, headers: readonly string[]): string | null {
  if (status < 200 || status >= 300) return `The upstream answered ${status}.`;
  if (!isEventStream(headers)) return `The upstream answered ${status} without the stream it was asked for.`;
  return encodingsOf(headers).length === 0
    ? null
    : 'The upstream compressed its stream, which it was not asked to, after this one had begun without.';
}
