/** The alerts about an agent that people are told of, on the page where a notice leads to: who has them in hand, and the button to take one. */
import { Link } from '@tanstack/react-router';
import { BellRing } from 'lucide-react';
import { RelativeTime } from '../../ui';
import { InHand } from './in-hand';
import { useRules } from './use-alerts';

export function AgentAlerts({ agentId }: { agentId: string }) {
  const { data: rules = [] } = useRules();
  const fired = rules.flatMap((rule) => {
    const one = rule.firing.find(({ agent_id }) => agent_id === agentId);
    return one === undefined || rule.channel_ids.length === 0 ? [] : [{ rule, one }];
  });
  if (fired.length === 0) return null;
  return (
    <ul aria-label={`Alerts about ${agentId}`} className="text-xs">
      {fired.map(({ rule, one }) => (
        <li key={rule.rule_id} className="flex flex-wrap items-center gap-x-2">
          <BellRing size={13} aria-hidden="true" className="text-danger" />
          <Link to="/alerts" search={{ named: rule.rule_id }} className="[overflow-wrap:anywhere] underline">
            {rule.name}
          </Link>
          <span className="text-muted">
            fires, <RelativeTime atMs={one.since_ms} short />
          </span>
          <InHand rule={rule} fired={one} />
        </li>
      ))}
    </ul>
  );
}
