/** Addresses, as far as access depends on them. */
import { isIP } from 'node:net';
import { bareAddress } from '#kernel';

/**
 * Of the header Host: a name that others can give out: whose page has it lead to this machine reads here what it likes, in a browser that runs
 * here; and a proxy that says nothing of itself may pass it on.
 */
export function isInternetName(host: string | undefined): boolean {
  // No browser leaves it out.
  if (host === undefined) return false;
  const address = `http://${host}`;
  if (!URL.canParse(address)) return true;
  const name = bareAddress(new URL(address).hostname);
  return isIP(name) === 0 && name.includes('.') && !name.endsWith('.localhost');
}
