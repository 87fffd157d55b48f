/** Which upstream a URL means, and what of it the upstream gets to see. */
import { percentDecoded } from '#kernel';

export interface ProxyTarget {
  /** Of the configured upstream. */
  upstream: string;
  /** From `/agents/<id>/`; null when the path names none. */
  agentId: string | null;
  /** Below the upstream's base URL, encoded as it came, without query: `/chat/completions`. */
  path: string;
  /** With its `?`; "" for none. */
  query: string;
}

/** No `#` anywhere: an upstream cuts off what follows it, so that it would see another path than the guards do. */
const PATTERN = /^(?:\/agents\/([^/?#]+))?\/proxy\/([^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/;

/** Cheap: asked for every request of the server. */
export const isProxyUrl = (url: string): boolean =>
  url.startsWith('/proxy/') || (url.startsWith('/agents/') && url.includes('/proxy/'));

/**
 * Null: not a path of the proxy, or one that tries to leave the upstream's base (`..`, encoded or not, back-slashes,
 * control characters), or has a fragment. Absolute URLs never come here: they don't start with a slash.
 */
export function parseProxyUrl(url: string): ProxyTarget | null {
  const match = PATTERN.exec(url);
  if (match === null) return null;
  const [, agent, upstream, path = '', query = ''] = match;
  if (leavesBase(path)) return null;
  const agentId = agent === undefined ? null : percentDecoded(agent);
  if (agentId === '' || (agent !== undefined && agentId === null)) return null;
  return { upstream: (upstream as string).toLowerCase(), agentId, path, query };
}

/** A `%`, a dot segment or a back-slash is rare: everything else is settled by one look. */
function leavesBase(path: string): boolean {
  if (!/[%\\\s]|\/\.|\p{Cc}/u.test(path)) return false;
  const decoded = percentDecoded(path);
  if (decoded === null || /[\\\p{Cc}]/u.test(decoded)) return true;
  return decoded.split('/').some(isDots);
}

/** With parameters behind them too (`..;v=1`): servers that know such drop them before they resolve the dots. */
const isDots = (segment: string): boolean => /^\.{1,2}(?:;|$)/.test(segment);
