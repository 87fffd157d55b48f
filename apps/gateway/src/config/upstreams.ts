/** Upstreams known without being told, and those from the environment: `OBSERVATORY_UPSTREAM_<NAME>_URL`, `_KEY`, `_KIND`. */
import { UPSTREAM_KINDS, type UpstreamKind, upstreamNameSchema } from '#contracts';
import { ConfigError } from '#kernel';
import { type Environment, UPSTREAM_VARIABLE } from './env.js';

export const VENDOR_UPSTREAMS: Readonly<Record<string, { baseUrl: string; kind: UpstreamKind }>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', kind: 'openai' },
  anthropic: { baseUrl: 'https://api.anthropic.com', kind: 'anthropic' },
  gemini: { baseUrl: 'https://generativelanguage.googleapis.com', kind: 'gemini' },
};

export interface EnvironmentUpstream {
  /** As in the proxy's paths: `MY_VLLM` is `my-vllm`. */
  name: string;
  /** As given, else the vendor's own. */
  baseUrl: string;
  /** Null: the caller's own key passes through. */
  apiKey: string | null;
  /** Null: by its name, else OpenAI-compatible. */
  kind: UpstreamKind | null;
}

/** @throws ConfigError naming the variable; never a key */
export function parseUpstreams(variables: Environment['upstreams']): EnvironmentUpstream[] {
  const upstreams = new Map<string, GivenUpstream>();
  for (const [variable, value] of Object.entries(variables)) {
    const [, given, what] = UPSTREAM_VARIABLE.exec(variable) ?? [];
    if (given === undefined) continue;
    const name = given.toLowerCase().replaceAll('_', '-');
    if (!upstreamNameSchema.safeParse(name).success)
      throw new ConfigError(
        variable,
        null,
        'name the upstream with at most 63 letters, digits and underscores.',
      );
    const upstream = upstreams.get(name) ?? { variable, name, baseUrl: null, apiKey: null, kind: null };
    upstreams.set(name, upstream);
    if (what === 'KEY') upstream.apiKey = parseKey(variable, value);
    else if (what === 'URL') upstream.baseUrl = parseBaseUrl(variable, value);
    else upstream.kind = parseKind(variable, value);
  }
  return [...upstreams.values()].map(resolve);
}

interface GivenUpstream extends Omit<EnvironmentUpstream, 'baseUrl'> {
  /** The first that names it. */
  variable: string;
  baseUrl: string | null;
}

/** A key for no address is a slip in the name; left out in silence, calls would go on without it. */
function resolve({ variable, name, baseUrl, ...given }: GivenUpstream): EnvironmentUpstream {
  const known = baseUrl ?? VENDOR_UPSTREAMS[name]?.baseUrl;
  if (known !== undefined) return { name, baseUrl: known, ...given };
  const vendor = Object.keys(VENDOR_UPSTREAMS).find((one) => name.startsWith(`${one}-`));
  throw new ConfigError(
    variable,
    null,
    `it is about an upstream named ${name}, which has no address: set ${variable.replace(/_[A-Z]+$/, '_URL')} too` +
      (vendor === undefined
        ? '.'
        : `, or, for the key of ${vendor}, OBSERVATORY_UPSTREAM_${vendor.toUpperCase()}_KEY instead.`),
  );
}

function parseKey(variable: string, value: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(value)) return value;
  throw new ConfigError(variable, null, 'it may hold printable ASCII without spaces only.');
}

function parseBaseUrl(variable: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  if (isPlain) return value.replace(/\/+$/, '');
  throw new ConfigError(
    variable,
    null,
    'give scheme, host and version path, without credentials or query, such as https://api.example.org/v1.',
  );
}

function parseKind(variable: string, value: string): UpstreamKind {
  const kind = UPSTREAM_KINDS.find((one) => one === value.toLowerCase());
  if (kind !== undefined) return kind;
  throw new ConfigError(variable, value, `give one of ${UPSTREAM_KINDS.join(', ')}.`);
}
