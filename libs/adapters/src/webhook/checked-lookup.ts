/**
 * Resolves a host once and hands out only addresses that may be connected to. The socket connects to what is returned
 * here and resolves nothing again, so a name that answers differently a moment later (DNS rebinding) changes nothing.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Every address of a host name. Rejects as `node:dns` does. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Whether an address may be connected to by anybody's wish. */
export type IsPublic = (address: string) => boolean;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true });

/** The address is private, loopback, link-local or reserved, and the channel does not allow that. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';
}

/**
 * @param hostname as a URL's parser gives it: IPv6 in brackets
 * @returns at least one address
 * @throws AddressRefused when none may be connected to; else what `resolve` says
 */
export async function allowedAddresses(
  hostname: string,
  { resolve, isPublic, allowPrivate }: { resolve: Resolve; isPublic: IsPublic; allowPrivate: boolean },
): Promise<LookupAddress[]> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(bare);
  const found = family === 0 ? await resolve(bare) : [{ address: bare, family }];
  const allowed = found.filter(({ address }) => allowPrivate || isPublic(address));
  if (allowed.length > 0) return allowed;
  throw new AddressRefused(
    'its address is private, loopback, link-local or reserved; allow private addresses for this channel if that is meant',
  );
}
