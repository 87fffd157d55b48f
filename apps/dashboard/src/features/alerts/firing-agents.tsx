/** For whom a rule fires. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { AlertRule } from '#contracts';
import { Button, formatCount, withUnseen } from '../../ui';
import { InHand } from './in-hand';

/** A rule can fire for every agent there is. */
const FIRING_NAMED_MAX = 20;

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
