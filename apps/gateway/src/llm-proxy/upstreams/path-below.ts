/** Which path of the upstream a call means: where base URL and SDK both name the version, it is meant once. */
import type { UpstreamTarget } from './upstream-directory.js';

/**
 * `/v1`, `/v1beta`, `/v1alpha2` in the base URL, and again from an SDK that puts it there itself. Of bounded length, since digits around a
 * word that is absent could be parted at every place of a long path.
 */
const SEVERAL_TIMES = /^(\/v\d{1,8}(?:(?:beta|alpha)\d{0,8})?)\1+(?=\/|$)/;
/** Of an upstream's own address, which is an operator's. */
const AT_END = /\/v\d+(?:beta|alpha)?\d*$/;

/**
 * Base URLs of OpenAI's kind end in their version, and so does ours (`/proxy/<name>/v1`): the caller's `/v1` stands for
 * the upstream's own. The others' SDKs put the version in themselves.
 *
 * @param given behind `/proxy/<name>`
 */
export function pathBelow(
  { kind, basePath }: Pick<UpstreamTarget, 'kind' | 'basePath'>,
  given: string,
): string {
  const path = given.replace(SEVERAL_TIMES, '$1');
  const doubled = kind === 'openai' ? '/v1' : (AT_END.exec(basePath)?.[0] ?? null);
  return doubled !== null && (path === doubled || path.startsWith(`${doubled}/`))
    ? path.slice(doubled.length)
    : path;
}
