/** For whom a rule fires, and who has it in hand: what somebody has is not said again every few minutes. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { HandHelping } from 'lucide-react';
import { useState } from 'react';
import type { AlertRule } from '#contracts';
import { api, useDenial, useMe } from '../../api';
import { Button, formatCount, RelativeTime, SinceNote, withUnseen } from '../../ui';
import { RULES_KEY } from './use-alerts';

/** A rule can fire for every agent there is. */
const FIRING_NAMED_MAX = 20;

type Fired = AlertRule['firing'][number];

interface FiringLinkProps extends Pick<AlertRule, 'type'> {
  /** Null: all of them together. */
  agentId: string | null;
  className?: string;
}

/** Whom to look at. */
export function FiringLink({ type, agentId, className }: FiringLinkProps) {
  if (agentId === null)
    return (
      <Link to={type === 'budget' ? '/all-agents' : '/spend'} className="underline">
        all agents together
      </Link>
    );
  return (
    <Link to="/agents/$agentId" params={{ agentId }} title={agentId} className="min-w-0 underline">
      <bdi className={className}>{withUnseen(agentId)}</bdi>
    </Link>
  );
}

/** One is named beside the rule already; several each by name, for who has no tooltip. Who wants it names all that are listed. */
export function FiringAgents({ rule }: { rule: AlertRule }) {
  const { type, firing, firing_count } = rule;
  const [showsAll, setShowsAll] = useState(false);
  const named = showsAll ? firing : firing.slice(0, FIRING_NAMED_MAX);
  const unnamedCount = firing_count - named.length;
  const offer = showsAll ? 'Show fewer' : 'Show more';
  return (
    <ul className="flex flex-wrap gap-x-4 text-xs">
      {named.map((fired) => (
        <li key={fired.agent_id} className="flex min-w-0 flex-wrap items-center gap-x-2">
          {firing_count === 1 ? null : <FiringLink type={type} agentId={fired.agent_id} />}
          <InHand rule={rule} fired={fired} />
        </li>
      ))}
      {firing_count > FIRING_NAMED_MAX ? (
        <li className="flex items-center gap-x-2">
          {unnamedCount > 0 ? `and ${formatCount(unnamedCount)} more` : null}
          <Button
            size="sm"
            variant="ghost"
            className="max-md:h-10"
            aria-expanded={showsAll}
            aria-label={`${offer} of ${rule.name}`}
            onClick={() => setShowsAll(!showsAll)}
          >
            {offer}
          </Button>
        </li>
      ) : null}
    </ul>
  );
}

/** Who has it, and the button to take it or to hand it back. */
export function InHand({ rule, fired }: { rule: AlertRule; fired: Fired }) {
  const { agent_id, acknowledged } = fired;
  const queryClient = useQueryClient();
  const denial = useDenial('command');
  const me = useMe()?.operator_id;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (isTaken: boolean) =>
      api.post<AlertRule>(`/v1/alert-rules/${encodeURIComponent(rule.rule_id)}/acknowledge`, {
        agent_id,
        acknowledged: isTaken,
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: RULES_KEY }),
  });
  const name = `${rule.name} for ${agent_id ?? 'all agents together'}`;
  return (
    <>
      {acknowledged === null ? null : (
        <span className="text-muted">
          {acknowledged.by === me ? 'You have' : `${acknowledged.by} has`} it in hand,{' '}
          <RelativeTime atMs={acknowledged.at_ms} short />
        </span>
      )}
      <Button
        size="sm"
        variant="ghost"
        className="max-md:h-10"
        icon={<HandHelping size={13} aria-hidden="true" />}
        busy={isPending}
        disabledReason={denial}
        aria-label={acknowledged === null ? `Acknowledge ${name}` : `Hand back ${name}`}
        onClick={() => mutate(acknowledged === null)}
      >
        {acknowledged === null ? 'Acknowledge' : 'Hand back'}
      </Button>
      {error ? (
        <span role="alert" className="text-danger">
          {error.message}
          <SinceNote />
        </span>
      ) : null}
    </>
  );
}
