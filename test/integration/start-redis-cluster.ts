/** A Redis Cluster of three real nodes, each on ports of its own. Where no cluster can be made, its tests are skipped; in CI they must run. */
import { spawnSync } from 'node:child_process';
import { freePorts } from './free-ports.js';
import { type RedisServer, redisMissing, startRedis } from './start-redis.js';

const NODE_COUNT = 3;

const isCliMissing = spawnSync('redis-cli', ['--version']).error !== undefined;
if (isCliMissing) {
  const missing = 'redis-cli is not installed (Debian: apt-get install redis-tools): no cluster can be made';
  if (process.env.CI === 'true') throw new Error(`${missing}; in CI its tests must run.`);
  console.warn(`${missing}; its tests are skipped.`);
}

/** Why there is none; null: it can be made. */
export const clusterMissing: string | null = redisMissing ?? (isCliMissing ? 'redis-cli' : null);

export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export const startClusterNode = (
  port: number,
  busPort: number,
  requireFullCoverage: 'yes' | 'no',
): Promise<RedisServer> =>
  startRedis([
    ...['--port', String(port), '--cluster-port', String(busPort), '--bind', '127.0.0.1'],
    ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
    // A node without others would not know its own address.
    ...['--cluster-announce-ip', '127.0.0.1', '--cluster-require-full-coverage', requireFullCoverage],
  ]);

/** Whole and of one mind when it resolves. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const ports = await freePorts(2 * NODE_COUNT);
  const nodePorts = ports.slice(0, NODE_COUNT);
  const nodes = await Promise.all(
    nodePorts.map((port, index) => startClusterNode(port, ports[NODE_COUNT + index] as number, 'no')),
  );
  const addresses = nodePorts.map((port) => `127.0.0.1:${port}`);
  const made = spawnSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], {
    encoding: 'utf8',
    timeout: 50_000,
  });
  if (made.status !== 0) throw new Error(`no cluster: ${made.stdout}${made.stderr}`);
  return {
    nodes,
    urls: addresses.map((address) => `redis://${address}`),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
