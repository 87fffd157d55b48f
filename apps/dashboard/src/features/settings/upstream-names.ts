/** How an upstream is named outside the settings: in the environment and in a client's base URL. Pure. */
import type { Upstream } from '#contracts';

/** `local-llm` -> `OBSERVATORY_UPSTREAM_LOCAL_LLM_URL`. */
export const envName = (name: string): string =>
  `OBSERVATORY_UPSTREAM_${name.toUpperCase().replaceAll('-', '_')}_URL`;

/** An OpenAI SDK wants the version in its base URL; the others add it themselves. */
export const proxyPathOf = ({ name, kind }: Pick<Upstream, 'name' | 'kind'>): string =>
  `/proxy/${name}${kind === 'openai' ? '/v1' : ''}`;
