/**
 * Cross-site defence of cookie logins: a browser tells where a request comes from, and a page cannot forge it.
 * Bearer tokens need none of this, because no browser adds them by itself.
 */

/**
 * True when `origin` is this server or one of `allowedOrigins`. Absent, opaque (`null`) and malformed origins
 * are not. The scheme is not compared with the host's: a proxy in front may end TLS.
 *
 * @param origin the `Origin` header
 * @param host the `Host` header, with its port
 * @param allowedOrigins such as `https://observatory.example.org`
 */
export function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowedOrigins: readonly string[],
): boolean {
  if (!origin || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false;
  if (host !== undefined && url.host === host.toLowerCase()) return true;
  return allowedOrigins.some((allowed) => URL.canParse(allowed) && new URL(allowed).origin === url.origin);
}

/** What a browser says about where a request comes from. */
export interface RequestSource {
  origin: string | undefined;
  /** `Sec-Fetch-Site`; browsers send it over https and to loopback. */
  secFetchSite: string | undefined;
  host: string | undefined;
}

/** True for a request that a page of this server, or of an allowed origin, has made. */
export const isOwnPage = (source: RequestSource, allowedOrigins: readonly string[]): boolean =>
  source.secFetchSite === 'same-origin' || originAllowed(source.origin, source.host, allowedOrigins);
