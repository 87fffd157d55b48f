/**
 * A circuit for each node of a cluster: one that is away costs a few waits and what lies on it, and nothing of the
 * others. A single Redis has one.
 */
import { Cluster, type Redis } from 'ioredis';
import { Circuit, type SteadyClock } from '#kernel';
import { nodeOf } from '../node-of.js';

const PAUSES = { firstMs: 100, maxMs: 2_000 };

export class NodeCircuits {
  readonly #client: Redis | Cluster;
  readonly #clock: SteadyClock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(client: Redis | Cluster, clock: SteadyClock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A node that has left the cluster does not count. */
  get isAnyOpen(): boolean {
    for (const [node, circuit] of this.#circuits)
      if (circuit.isOpen && this.#holdsAnything(node)) return true;
    return false;
  }

  /** @param name of a key of Redis */
  of(name: string): Circuit {
    const node = nodeOf(this.#client, name);
    const known = this.#circuits.get(node);
    if (known !== undefined) return known;
    for (const former of this.#circuits.keys())
      if (!this.#holdsAnything(former)) this.#circuits.delete(former);
    const circuit = new Circuit(this.#clock, PAUSES);
    this.#circuits.set(node, circuit);
    return circuit;
  }

  #holdsAnything(node: string): boolean {
    return !(this.#client instanceof Cluster) || this.#client.slots.some((holders) => holders[0] === node);
  }
}
