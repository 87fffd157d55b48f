import { Cluster, Command, type Redis } from 'ioredis';

/** Of a single Redis, and of a cluster as long as nobody knows what lies where. */
const NO_NODE = '';

/** Which node of a cluster is asked about a key: the master of the slot that it falls in. @param name of a key of Redis */
export const nodeOf = (client: Redis | Cluster, name: string): string =>
  client instanceof Cluster ? (client.slots[new Command('get', [name]).getSlot()]?.[0] ?? NO_NODE) : NO_NODE;
