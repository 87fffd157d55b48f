/** What a looping session repeats, as it last said it. Pure. */
import { type AlertGroup, comparedIntent, PROXY_SOURCE, type SessionView } from '#contracts';

/**
 * A pattern holds what was compared, which of a proxied call is its question without the numbers: where the session's last step
 * was one of those that repeat, its own words stand for it.
 */
export function repeatedText(
  { latest }: Pick<AlertGroup, 'latest'>,
  session: Pick<SessionView, 'source_app' | 'last_intent'> | undefined,
): string {
  const { intent } = latest.repeated_pattern;
  const isLast = session?.source_app === PROXY_SOURCE && comparedIntent(session.last_intent) === intent;
  return isLast ? session.last_intent : intent;
}
