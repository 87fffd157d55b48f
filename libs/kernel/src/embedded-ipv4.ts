/**
 * The IPv4 address that an IPv6 one leads to, where a translator or a tunnel reads it out of the bits: whoever refuses the one by
 * its network has to refuse the other.
 *
 * @see RFC 4291 (compatible, mapped), RFC 2765 (translated), RFC 6052 and 8215 (NAT64), RFC 3056 (6to4), RFC 5214 (ISATAP)
 */

/** In front of the last 32 bits. */
const PREFIXES: readonly (readonly number[])[] = [
  [0, 0, 0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0xffff],
  [0, 0, 0, 0, 0xffff, 0],
  [0x64, 0xff9b, 0, 0, 0, 0],
  [0x64, 0xff9b, 1],
];

/** @param groups the eight of an IPv6 address. Null: no IPv4 address is in it. */
export function embeddedIpv4(groups: readonly number[]): string | null {
  const [first, second, third, , fifth = 0, sixth] = groups;
  if (first === 0x2002) return ipv4Of(second, third);
  const isIsatap = (fifth & 0xfdff) === 0 && sixth === 0x5efe;
  return isIsatap || PREFIXES.some((prefix) => startsWith(groups, prefix))
    ? ipv4Of(groups[6], groups[7])
    : null;
}

export const startsWith = (groups: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((group, index) => groups[index] === group);

const ipv4Of = (high = 0, low = 0): string => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;

/**
 * The eight groups: the URL parser writes every spelling in one way, in lower case, hexadecimal, with one `::`.
 *
 * @param address IPv6, without brackets and zone; throws TypeError for anything else
 */
export function ipv6Groups(address: string): number[] {
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const parse = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const left = parse(head);
  if (tail === undefined) return left;
  const right = parse(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}
