/**
 * Addresses of host names that people typed in, so that a name nobody answers for holds up its own caller and no other.
 * Node's `lookup` waits in a thread, and of the process's threads two at most look up names, those of upstreams among them:
 * so the name server is asked directly, and a thread is for what only the system can tell, for one name at a time.
 *
 *     hosts file --not there--> name server --no such name--> the system (search domains, mDNS), by turns
 *                                  ^ a name without a dot is the system's from the start
 */
import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

const HOSTS_FILE = '/etc/hosts';
/** The wait for the first answer; for the second it is twice as long. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
/** The name server was silent: the system would ask the same one, and wait in its thread. */
const SILENCE: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECANCELLED']);

export interface NameLookupOptions {
  /** Name servers as `Resolver.setServers` takes them; those of the system unless given. */
  servers?: readonly string[];
  hostsFile?: string;
  /** How the system tells it: `node:dns` unless given. */
  askSystem?: (hostname: string) => Promise<readonly LookupAddress[]>;
}

export class NameLookup {
  readonly #options: NameLookupOptions;
  /** Settles when no look-up of the system is under way. */
  #systemTurn: Promise<unknown> = Promise.resolve();

  constructor(options: NameLookupOptions = {}) {
    this.#options = options;
  }

  /**
   * @param deadline ends the questions to the name server, and the wait for a turn; not a look-up that the system has begun
   * @returns at least one address, IPv4 first
   * @throws with `code`: EAI_AGAIN where nobody answered, else as `node:dns` does; the deadline's reason where it passed before
   */
  async addressesOf(hostname: string, deadline: AbortSignal): Promise<readonly LookupAddress[]> {
    const known = addressesIn(await hostsIn(this.#options.hostsFile ?? HOSTS_FILE), hostname);
    if (known.length > 0) return known;
    const told = hostname.includes('.') ? await this.#askServer(hostname, deadline) : [];
    return told.length > 0 ? told : this.#askSystem(hostname, deadline);
  }

  /** None where the server says that there are none, or cannot be asked. */
  async #askServer(hostname: string, deadline: AbortSignal): Promise<LookupAddress[]> {
    deadline.throwIfAborted();
    // One for each name: it reads how the system is set up when it is made, and that may change.
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (this.#options.servers !== undefined) resolver.setServers(this.#options.servers);
    const cancel = () => resolver.cancel();
    deadline.addEventListener('abort', cancel, { once: true });
    const replies = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    deadline.removeEventListener('abort', cancel);
    const found = replies.flatMap((reply) => (reply.status === 'fulfilled' ? reply.value : []));
    const isSilent = replies.some((reply) => reply.status === 'rejected' && SILENCE.has(reply.reason.code));
    if (found.length === 0 && isSilent)
      throw Object.assign(new Error('no name server answered'), { code: 'EAI_AGAIN' });
    return found.map(withFamily);
  }

  #askSystem(hostname: string, deadline: AbortSignal): Promise<readonly LookupAddress[]> {
    const { askSystem = (name) => lookup(name, { all: true }) } = this.#options;
    const answer = this.#systemTurn.then(() => {
      deadline.throwIfAborted();
      return askSystem(hostname);
    });
    this.#systemTurn = answer.catch(() => {});
    return answer;
  }
}

const withFamily = (address: string): LookupAddress => ({ address, family: isIP(address) });

/** Empty where there is none. */
const hostsIn = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** @param hosts lines of `<address> <name> ...  # comment` */
function addressesIn(hosts: string, hostname: string): LookupAddress[] {
  const found = hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isNamed = names.some((name) => name.toLowerCase() === hostname.toLowerCase());
    return isNamed && isIP(address) !== 0 ? [withFamily(address)] : [];
  });
  return found.sort((a, b) => a.family - b.family);
}
