/**
 * Which addresses belong to the public internet. All else is somebody's inside: loopback, private, link-local, carrier-grade
 * NAT, unique-local, multicast, reserved, and a cloud's metadata service also where its address is a public one; also when an
 * IPv4 address of that kind hides in an IPv6 one (mapped, 6to4, NAT64, ISATAP). Spellings such as 0x7f.1 or 2130706433 are no matter here: a
 * URL's parser has made them plain before.
 *
 * @see RFC 6890 and the IANA special-purpose registries
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { bareAddress, embeddedIpv4, ipv6Groups, isMetadataAddress, startsWith } from '#kernel';

const NOT_PUBLIC_IPV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within the global unicast space; everything outside it is refused anyway. */
const NOT_PUBLIC_IPV6: readonly [string, number][] = [
  // IETF protocol assignments: Teredo, ORCHID, benchmarking.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
];

/** As public as the IPv4 address behind it: mapped, NAT64. */
const TRANSLATED: readonly (readonly number[])[] = [
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
];

const ipv4Blocks = new BlockList();
for (const [network, bits] of NOT_PUBLIC_IPV4) ipv4Blocks.addSubnet(network, bits, 'ipv4');
const ipv6Blocks = new BlockList();
for (const [network, bits] of NOT_PUBLIC_IPV6) ipv6Blocks.addSubnet(network, bits, 'ipv6');

/** @param address as a resolver or a socket gives it; brackets and zone are dropped. False for what is no address. */
export function isPublicAddress(address: string): boolean {
  const bare = bareAddress(address);
  if (isMetadataAddress(bare)) return false;
  if (isIPv4(bare)) return !ipv4Blocks.check(bare, 'ipv4');
  return isIPv6(bare) && isPublicIpv6(bare);
}

function isPublicIpv6(address: string): boolean {
  const groups = ipv6Groups(address);
  const ipv4 = embeddedIpv4(groups);
  if (ipv4 !== null && !isPublicAddress(ipv4)) return false;
  if (TRANSLATED.some((prefix) => startsWith(groups, prefix))) return true;
  // Global unicast is 2000::/3; unspecified, loopback, fc00::/7, fe80::/10, ff00::/8 lie elsewhere.
  return (groups[0] ?? 0) >> 13 === 1 && !ipv6Blocks.check(address, 'ipv6');
}
