/** How an upstream is named: to people, on the wire, in the environment and in a client's base URL. Pure. */
import type { Upstream, UpstreamKind } from '#contracts';

export const UPSTREAMS_KEY = ['upstreams'];
export const upstreamPath = (name: string): string => `/v1/upstreams/${encodeURIComponent(name)}`;

export const KIND_LABELS: Record<UpstreamKind, string> = {
  openai: 'OpenAI-compatible',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
};

/** `local-llm` -> `OBSERVATORY_UPSTREAM_LOCAL_LLM_URL`. */
export const envName = (name: string): string =>
  `OBSERVATORY_UPSTREAM_${name.toUpperCase().replaceAll('-', '_')}_URL`;

/** An OpenAI SDK wants the version in its base URL; the others add it themselves. */
export const proxyPathOf = ({ name, kind }: Pick<Upstream, 'name' | 'kind'>): string =>
  `/proxy/${name}${kind === 'openai' ? '/v1' : ''}`;
