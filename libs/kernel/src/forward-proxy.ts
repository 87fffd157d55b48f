/**
 * The forward proxy of a network that lets nothing else out, as HTTPS_PROXY and NO_PROXY name it to most programs. It is for calls
 * by TLS, of which it sees the host alone: plain HTTP stays within the network, and goes straight.
 */
import { BlockList, isIP } from 'node:net';
import { ConfigError } from './config-error.js';
import { isLoopback } from './loopback.js';
import { bareAddress } from './metadata-address.js';
import { percentDecoded } from './percent-decoded.js';
import { Unshown } from './unshown.js';

const ADDRESS_BITS = { ipv4: 32, ipv6: 128 } as const;
const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Its URL may hold a password. */
export class ForwardProxy extends Unshown {
  readonly #url: URL;
  readonly #passedBy: readonly { host: string; port: string | undefined }[];
  readonly #networks = new BlockList();

  /**
   * @param noProxy names, addresses and domains, with a port or without, and networks, between commas or spaces; `*`: all
   * @throws ConfigError for an address with a prefix that is none
   */
  constructor(url: URL, noProxy = '') {
    super();
    this.#url = url;
    this.#passedBy = noProxy
      .toLowerCase()
      .split(/[\s,]+/)
      .flatMap((entry) => {
        if (this.#takeNetwork(entry)) return [];
        const [, host, port] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
        return host === undefined ? [] : [{ host: bareAddress(host), port }];
      });
  }

  get url(): URL {
    return this.#url;
  }

  /** False where NO_PROXY has it, or it is this machine. A domain stands for all below it, too. */
  isFor(host: string, port: number): boolean {
    if (isLoopback(host)) return false;
    const name = bareAddress(host.toLowerCase());
    if (isIP(name) !== 0 && this.#networks.check(name, familyOf(name))) return false;
    return !this.#passedBy.some(
      (one) =>
        (one.port === undefined || Number(one.port) === port) &&
        (one.host === '*' || name === one.host || name.endsWith(`.${one.host}`)),
    );
  }

  /** Of an address alone, its own. False: the entry is no such thing. */
  #takeNetwork(entry: string): boolean {
    const [, start = '', prefix] = /^([^/]*)(?:\/(.*))?$/.exec(entry) ?? [];
    const address = bareAddress(start);
    if (isIP(address) === 0) return false;
    const family = familyOf(address);
    const most = ADDRESS_BITS[family];
    const bits = Number(prefix ?? most);
    if ((prefix !== undefined && !/^\d+$/.test(prefix)) || bits > most)
      throw new ConfigError('NO_PROXY', entry, `a network ends in the count of its bits, 0 to ${most}.`);
    this.#networks.addSubnet(address, bits, family);
    return true;
  }
}

/**
 * @returns null: calls go straight
 * @throws ConfigError, which never repeats the URL
 */
export function readForwardProxy(url: string | undefined, noProxy: string | undefined): ForwardProxy | null {
  if (url === undefined) return null;
  // Many write host and port alone.
  const whole = url.includes('://') ? url : `http://${url}`;
  const parsed = URL.canParse(whole) ? new URL(whole) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new ConfigError(
      'HTTPS_PROXY',
      null,
      'give the URL of an HTTP proxy, such as http://proxy.example.org:3128.',
    );
  if (percentDecoded(parsed.username + parsed.password) === null)
    throw new ConfigError('HTTPS_PROXY', null, 'write a % of the name or password as %25.');
  return new ForwardProxy(parsed, noProxy);
}
