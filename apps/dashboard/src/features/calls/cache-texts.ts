/** How the cache answered a call, in words. Pure. */
import type { CallCache } from '#contracts';

/** A plain cosine: three decimals, since 0.919 is below 0.92. */
export const formatCosine = (cosine: number): string => cosine.toFixed(3);

/** "a moment", "4 min", "2 h": how long ago the answer was given. */
export function formatAgeS(ageS: number): string {
  if (ageS < 2) return 'a moment';
  if (ageS < 60) return `${Math.floor(ageS)} s`;
  if (ageS < 3_600) return `${Math.floor(ageS / 60)} min`;
  return ageS < 48 * 3_600 ? `${Math.floor(ageS / 3_600)} h` : `${Math.floor(ageS / 86_400)} d`;
}

/** One sentence about the match. */
export function cachedText({ match, age_s, cosine }: Pick<CallCache, 'match' | 'age_s' | 'cosine'>): string {
  const when = `was answered ${formatAgeS(age_s)} before`;
  if (match === 'exact') return `Answered from the cache: the same request ${when}.`;
  const alike = cosine === null ? '' : ` (cosine ${formatCosine(cosine)})`;
  return `Answered from the cache: a question of the same meaning${alike} ${when}.`;
}
