/** Names and addresses that only this machine can reach. */
import { bareAddress } from './metadata-address.js';

/** @param host as `bareAddress` takes it, or a name */
export function isLoopback(host: string): boolean {
  const bare = bareAddress(host.toLowerCase());
  return bare === 'localhost' || bare === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(bare);
}
