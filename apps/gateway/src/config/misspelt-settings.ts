/** Variables that are nearly a setting of the gateway, or of the sidecar that it starts, which leaves the warning to it; or named like one. */
import { SETTING_VARIABLES as SIDECAR_VARIABLES } from '#domain/sidecar-settings';
import { misspeltVariables } from '#kernel';
import { SIDECAR_REDIS_VARIABLE } from '../semantic-loop/sidecar-environment.js';
import { CONFIG_VARIABLES, RUNTIME_VARIABLES, SECRET_VARIABLES, UPSTREAM_VARIABLE } from './env.js';
import { LLM_CACHE_VARIABLES } from './llm-cache-config.js';
import { VENDOR_UPSTREAMS } from './upstreams.js';

/** Without those of OpenTelemetry: of its standard's names we read a few, and the others are as like them as slips. */
const TABLES = [CONFIG_VARIABLES, SECRET_VARIABLES, RUNTIME_VARIABLES, LLM_CACHE_VARIABLES];
const VENDOR_VARIABLES = Object.keys(VENDOR_UPSTREAMS).flatMap((vendor) =>
  ['URL', 'KEY', 'KIND'].map((what) => `OBSERVATORY_UPSTREAM_${vendor.toUpperCase()}_${what}`),
);
/** Two of them are ours in small letters; the others are so like ours, and other programs read them. */
const PROXY_VARIABLES = ['https_proxy', 'no_proxy', 'HTTP_PROXY', 'http_proxy', 'FTP_PROXY', 'ftp_proxy'];
const KNOWN = [
  ...TABLES.flatMap((table): string[] => Object.values(table)),
  ...SIDECAR_VARIABLES,
  SIDECAR_REDIS_VARIABLE,
  ...VENDOR_VARIABLES,
  ...PROXY_VARIABLES,
];

/** No other program's names begin so. */
const OURS = /^(?:ENTROPY|HITL|KILL_SWITCH|LLM_CACHE|LOOP)_/;
/** Kubernetes tells every container of its services, whatever they are called. */
const OF_A_SERVICE = /_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_|$)/;

/** @returns a sentence for each, which names it and never what it is set to */
export function misspeltSettings(source: Readonly<Record<string, string | undefined>>): string[] {
  // Whatever its name, an upstream's variable is one in capitals and underscores alone.
  const upstreams = Object.keys(source)
    .map((name) => name.toUpperCase().replaceAll('-', '_'))
    .filter((name) => UPSTREAM_VARIABLE.test(name));
  const isOurs = (name: string) => OURS.test(name) && !OF_A_SERVICE.test(name);
  return misspeltVariables(source, [...KNOWN, ...upstreams], isOurs);
}
