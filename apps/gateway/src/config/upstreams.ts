/** Upstreams from the environment: `OBSERVATORY_UPSTREAM_<NAME>_URL`, `_KEY`, `_KIND`. */
import { UPSTREAM_KINDS, type UpstreamKind, upstreamNameSchema } from '#contracts';
import { ConfigError } from '#kernel';
import { type Environment, UPSTREAM_VARIABLE } from './env.js';

export interface EnvironmentUpstream {
  /** As in the proxy's paths: `MY_VLLM` is `my-vllm`. */
  name: string;
  /** Null: the vendor's own, for the names we know. */
  baseUrl: string | null;
  /** Null: the caller's own key passes through. */
  apiKey: string | null;
  /** Null: by its name, else OpenAI-compatible. */
  kind: UpstreamKind | null;
}

/** @throws ConfigError naming the variable; never a key */
export function parseUpstreams(variables: Environment['upstreams']): EnvironmentUpstream[] {
  const upstreams = new Map<string, EnvironmentUpstream>();
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
    const upstream = upstreams.get(name) ?? { name, baseUrl: null, apiKey: null, kind: null };
    upstreams.set(name, upstream);
    if (what === 'KEY') upstream.apiKey = parseKey(variable, value);
    else if (what === 'URL') upstream.baseUrl = parseBaseUrl(variable, value);
    else upstream.kind = parseKind(variable, value);
  }
  return [...upstreams.values()];
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
