/**
 * Where clouds hand credentials to whoever asks from inside: the link-local network, and the few places outside it. Nobody
 * serves anything else there, so what somebody else may name is never connected to these, also where private addresses are
 * welcome. A place that an IPv6 address leads to through a translator or a tunnel is the same place.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { embeddedIpv4, ipv6Groups } from './embedded-ipv4.js';

/** Outside the link-local networks: Alibaba's, Azure's, Oracle's; and Google's, Oracle's, Akamai's, Scaleway's, Alibaba's. */
const ELSEWHERE_IPV4 = ['100.100.100.200', '168.63.129.16', '192.0.0.192'];
const ELSEWHERE_IPV6 = [
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:a9fe:a9fe::1',
  'fd00:42::42',
  'fd00:100::100:200',
];

const blocks = new BlockList();
blocks.addSubnet('169.254.0.0', 16, 'ipv4');
blocks.addSubnet('fe80::', 10, 'ipv6');
for (const address of ELSEWHERE_IPV4) blocks.addAddress(address, 'ipv4');
for (const address of ELSEWHERE_IPV6) blocks.addAddress(address, 'ipv6');
// Amazon's: several services, so all of what it is.
blocks.addSubnet('fd00:ec2::', 32, 'ipv6');

/** Of an address as a URL, a resolver or a socket gives it: without brackets and zone. */
export const bareAddress = (host: string): string => host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');

/** @param host as `bareAddress` takes it; false for a name */
export function isMetadataAddress(host: string): boolean {
  const bare = bareAddress(host);
  if (isIPv4(bare)) return blocks.check(bare, 'ipv4');
  if (!isIPv6(bare)) return false;
  if (blocks.check(bare, 'ipv6')) return true;
  const ipv4 = embeddedIpv4(ipv6Groups(bare));
  return ipv4 !== null && blocks.check(ipv4, 'ipv4');
}
