/** Who has an alert in hand, and the button to take it or to hand it back: what somebody has is not said again every few minutes. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { HandHelping } from 'lucide-react';
import type { AlertRule } from '#contracts';
import { api, useDenial, useMe } from '../../api';
import { Button, RelativeTime, SETTLE_MS, SinceNote, useRested } from '../../ui';
import { RULES_KEY } from './use-alerts';

interface InHandProps {
  rule: AlertRule;
  /** One of those for whom it fires. */
  fired: AlertRule['firing'][number];
}

export function InHand({ rule, fired }: InHandProps) {
  const { agent_id, acknowledged } = fired;
  const isTaken = acknowledged !== null;
  // Somebody else may have been first: a second press would take it out of their hands.
  const isSettled = useRested(isTaken, SETTLE_MS) === isTaken;
  const queryClient = useQueryClient();
  const denial = useDenial('command');
  const me = useMe()?.operator_id;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (takes: boolean) =>
      api.post<AlertRule>(`/v1/alert-rules/${encodeURIComponent(rule.rule_id)}/acknowledge`, {
        agent_id,
        acknowledged: takes,
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
        disabled={!isSettled}
        aria-label={isTaken ? `Hand back ${name}` : `Acknowledge ${name}`}
        onClick={() => mutate(!isTaken)}
      >
        {isTaken ? 'Hand back' : 'Acknowledge'}
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
