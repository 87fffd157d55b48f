/**
 * What a supervised sidecar is given of the gateway's environment: its own settings and what any program needs to run,
 * and none of the gateway's secrets. The gateway's REDIS_URL is another Redis, for limits; the sidecar's, which must
 * have the query engine, is LOOP_EMBEDDING_REDIS_URL here.
 */

import { parseConfig, parseSecrets, readEnvironment } from '#domain/sidecar-settings';
import { readRedisUrl } from '#kernel';

type Environment = Record<string, string | undefined>;

/** What the sidecar knows as REDIS_URL. */
export const SIDECAR_REDIS_VARIABLE = 'LOOP_EMBEDDING_REDIS_URL';

const PASSED_ON = [
  'LOG_LEVEL',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'PATH',
  'HOME',
  'TMPDIR',
  'TEMP',
  'TMP',
  'TZ',
  'LANG',
  'LC_ALL',
  'LD_LIBRARY_PATH',
  'SystemRoot',
] as const;

/** Of the gateway's own, though they begin alike. */
const GATEWAYS_OWN = ['LOOP_DETECTION_ENABLED', 'LOOP_INTERVENTION_MESSAGE', SIDECAR_REDIS_VARIABLE];

/** @param source usually `process.env` */
export function sidecarEnvironment(source: Environment): Record<string, string> {
  const redisUrl = source[SIDECAR_REDIS_VARIABLE]?.trim();
  const isPassedOn = (name: string): boolean =>
    (PASSED_ON as readonly string[]).includes(name) ||
    (name.startsWith('LOOP_') && !name.startsWith('LOOP_EMBEDDING_SIDECAR_') && !GATEWAYS_OWN.includes(name));
  const passed = Object.entries(source).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassedOn(entry[0]),
  );
  return { ...Object.fromEntries(passed), ...(redisUrl ? { REDIS_URL: redisUrl } : {}) };
}

/**
 * What the sidecar would refuse to start with, told before it is started: calls would go on without it, and only its own
 * lines would say why.
 *
 * @param environment as `sidecarEnvironment` made it
 * @throws ConfigError naming the variable as it is called here
 */
export function requireSidecarSettings(environment: Readonly<Record<string, string>>): void {
  readRedisUrl({ [SIDECAR_REDIS_VARIABLE]: environment.REDIS_URL }, SIDECAR_REDIS_VARIABLE);
  const { config, secrets } = readEnvironment(environment);
  parseConfig(config);
  parseSecrets(secrets);
}
