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

/** "12 of 14 calls failed in 5 min, of 7 agents"; where it is one agent alone, whose name is to follow: "..., all of agent" */
export function shareText({
  call_count,
  failed_count,
  failed_agent_count,
  failed_agent_id,
  waiting_count,
}: UpstreamHealth): string {
  const waiting =
    waiting_count === 0 ? '' : `, ${plural(waiting_count, 'call')} without an answer for 30 s or longer`;
  if (call_count === 0) return `No call ended in 5 min${waiting}`;
  if (failed_count === 0) return `${plural(call_count, 'call')} in 5 min, none failed${waiting}`;
  const whose = failed_agent_id === null ? `of ${plural(failed_agent_count, 'agent')}` : 'all of agent';
  return `${formatCount(failed_count)} of ${plural(call_count, 'call')} failed in 5 min${waiting}, ${whose}`;
}

/** "503. The vendor's error: overloaded_error.": what the latest failed call got, in sentences. */
export function failureText({ status, detail }: NonNullable<UpstreamHealth['last_failure']>): string {
  if (status === 499) return 'no answer, until the client left.';
  if (detail === null) return `${status}.`;
  return `${status}. ${detail.endsWith('.') ? detail : `${detail}.`}`;
}

/** Whose it is to mend; null: nothing is to be done. */
export function upstreamAdvice({
  state,
  call_count,
  failed_count,
  failed_agent_id,
  waiting_count,
  last_failure,
}: UpstreamHealth): string | null {
  if (state !== 'failing' && state !== 'faltering') return null;
  if (waiting_count > failed_count)
    return 'It takes calls and does not answer. A slow model may need so long; else look at the vendor’s status page.';
  const isOneOfMany = failed_agent_id !== null && failed_count < call_count;
  switch (last_failure?.status) {
    case undefined:
      return null;
    case 401:
    case 403:
      return isOneOfMany
        ? 'It refuses the key of this agent, and answers others: look at the agent’s own key.'
        : 'It refuses the key. Look at the one in Settings, Upstreams, or at the agents’ own.';
    case 402:
      return 'It wants money: look at the account there.';
    case 429:
      return isOneOfMany
        ? 'It is asked more often by this agent than it allows, and answers others: slow the agent down by its policy.'
        : 'It is asked more often than it allows, or the account’s quota is used up: slow agents down by their policies, or raise the limit there.';
    default:
      return 'Calls are not tried again here: agents see these errors. Look at the vendor’s status page; pausing their sessions keeps agents waiting instead.';
  }
}

/** The worst first, then by name. */
export const byUrgency = (upstreams: readonly UpstreamHealth[]): UpstreamHealth[] =>
  [...upstreams].sort(
    (a, b) => UPSTREAM_STATES[a.state].rank - UPSTREAM_STATES[b.state].rank || (a.name < b.name ? -1 : 1),
  );
