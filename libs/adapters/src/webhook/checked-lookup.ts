/**
 * Resolves a host once and hands out only addresses that may be connected to. The socket connects to what is returned
 * here and resolves nothing again, so a name that answers differently a moment later (DNS rebinding) changes nothing.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { isMetadataAddress, withDeadline } from '#kernel';

/** Every address of a host name. Rejects as `node:dns` does; may go on after the deadline, unheard. */
export type Resolve = (hostname: string, deadline: AbortSignal) => Promise<readonly LookupAddress[]>;

/** Whether an address may be connected to by anybody's wish. */
export type IsPublic = (address: string) => boolean;

/** The address is private, loopback or reserved, and the channel does not allow that; or link-local, which none may. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';
}

/**
 * @param hostname as a URL's parser gives it: IPv6 in brackets
 * @returns at least one address
 * @throws AddressRefused when none may be connected to; the deadline's reason; else what `resolve` says
 */
export async function allowedAddresses(
  hostname: string,
  parts: { resolve: Resolve; isPublic: IsPublic; allowPrivate: boolean; deadline: AbortSignal },
): Promise<LookupAddress[]> {
  const { resolve, isPublic, allowPrivate, deadline } = parts;
  const bare = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(bare);
  const found =
    family === 0 ? await withDeadline(resolve(bare, deadline), deadline) : [{ address: bare, family }];
  const allowed = found.filter(({ address }) =>
    allowPrivate ? !isMetadataAddress(address) : isPublic(address),
  );
  if (allowed.length > 0) return allowed;
  throw new AddressRefused(
    allowPrivate
      ? 'its address is link-local or a metadata service, which no channel may reach'
      : 'its address is private, loopback, link-local or reserved; allow private addresses for this channel if that is meant',
  );
}
