/**
 * The forward proxy of a network that lets nothing else out, as HTTPS_PROXY and NO_PROXY name it to most programs. It is for calls
 * by TLS, of which it sees the host alone: plain HTTP stays within the network, and goes straight.
 */
import { ConfigError } from './config-error.js';
import { percentDecoded } from './percent-decoded.js';
import { Unshown } from './unshown.js';

/** Its URL may hold a password. */
export class ForwardProxy extends Unshown {
  readonly #url: URL;
  readonly #passedBy: readonly { host: string; port: string | undefined }[];

  /** @param noProxy names, addresses and domains, with a port or without, between commas or spaces; `*`: all */
  constructor(url: URL, noProxy = '') {
    super();
    this.#url = url;
    this.#passedBy = noProxy
      .toLowerCase()
      .split(/[\s,]+/)
      .flatMap((entry) => {
        const [, host, port] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
        return host === undefined ? [] : [{ host: bare(host), port }];
      });
  }

  get url(): URL {
    return this.#url;
  }

  /** False where NO_PROXY has it, or it is this machine. A domain stands for all below it, too. */
  isFor(host: string, port: number): boolean {
    const name = bare(host.toLowerCase());
    if (name === 'localhost' || name === '::1' || /^127(\.\d+){3}$/.test(name)) return false;
    return !this.#passedBy.some(
      (one) =>
        (one.port === undefined || Number(one.port) === port) &&
        (one.host === '*' || name === one.host || name.endsWith(`.${one.host}`)),
    );
  }
}

/** An address of IPv6 without its brackets. */
const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/**
 * @returns null: calls go straight
 * @throws ConfigError without the value
 */
export function readForwardProxy(
  url: string | undefined,
  noProxy: string | undefined,
  name = 'HTTPS_PROXY',
): ForwardProxy | null {
  if (url === undefined) return null;
  // Many write host and port alone.
  const whole = url.includes('://') ? url : `http://${url}`;
  const parsed = URL.canParse(whole) ? new URL(whole) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new ConfigError(
      name,
      null,
      'give the URL of an HTTP proxy, such as http://proxy.example.org:3128.',
    );
  if (percentDecoded(parsed.username + parsed.password) === null)
    throw new ConfigError(name, null, 'write a % of the name or password as %25.');
  return new ForwardProxy(parsed, noProxy);
}
