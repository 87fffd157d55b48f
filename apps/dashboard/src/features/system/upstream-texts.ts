/** How an upstream fares in words that help at three in the morning: how bad it is, and whose it is to mend. Pure. */
import type { UpstreamHealth } from '#contracts';
import type { Tone } from '../../ui';
import { formatCount, plural } from '../../ui/format';

export const UPSTREAM_STATES: Record<UpstreamHealth['state'], { label: string; tone: Tone; rank: number }> = {
  failing: { label: 'Failing', tone: 'danger', rank: 0 },
  faltering: { label: 'Faltering', tone: 'warning', rank: 1 },
  serving: { label: 'Serving', tone: 'success', rank: 2 },
  idle: { label: 'No calls', tone: 'neutral', rank: 3 },
};

/** "12 of 14 calls failed in 5 min, of 7 agents" */
export function shareText({ call_count, failed_count, failed_agent_count }: UpstreamHealth): string {
  if (call_count === 0) return 'No call in 5 min';
  if (failed_count === 0) return `${plural(call_count, 'call')} in 5 min, none failed`;
  return `${formatCount(failed_count)} of ${plural(call_count, 'call')} failed in 5 min, of ${plural(failed_agent_count, 'agent')}`;
}

/** "503. The vendor's error: overloaded_error.": what the latest failed call got, in sentences. */
export function failureText({ status, detail }: NonNullable<UpstreamHealth['last_failure']>): string {
  if (status === 499) return 'no answer, until the client left.';
  if (detail === null) return `${status}.`;
  return `${status}. ${detail.endsWith('.') ? detail : `${detail}.`}`;
}

/** Whose it is to mend; null: nothing is to be done. */
export function upstreamAdvice({ state, last_failure }: UpstreamHealth): string | null {
  if (last_failure === null || (state !== 'failing' && state !== 'faltering')) return null;
  switch (last_failure.status) {
    case 401:
    case 403:
      return 'It refuses the key. Look at the one in Settings, Upstreams, or at the agents’ own.';
    case 402:
      return 'It wants money: look at the account there.';
    case 429:
      return 'It is asked more often than it allows, or the account’s quota is used up: slow agents down by their policies, or raise the limit there.';
    default:
      return 'Calls are not tried again here: agents see these errors. Look at the vendor’s status page; pausing their sessions keeps agents waiting instead.';
  }
}

/** The worst first, then by name. */
export const byUrgency = (upstreams: readonly UpstreamHealth[]): UpstreamHealth[] =>
  [...upstreams].sort(
    (a, b) => UPSTREAM_STATES[a.state].rank - UPSTREAM_STATES[b.state].rank || (a.name < b.name ? -1 : 1),
  );
