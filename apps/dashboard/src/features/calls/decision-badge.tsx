/** What became of a call. An error of the upstream is forwarded too, and shown as the error it is. */
import type { LlmCall } from '#contracts';
import { Badge } from '../../ui';
import { DECISIONS } from './decision-texts';

interface DecisionBadgeProps {
  call: Pick<LlmCall, 'decision' | 'status'>;
  className?: string;
}

export function DecisionBadge({ call, className }: DecisionBadgeProps) {
  const { label, tone, text } = DECISIONS[call.decision] ?? DECISIONS.forwarded;
  const isError = call.decision === 'forwarded' && call.status >= 400;
  return (
    <Badge
      tone={isError ? 'danger' : tone}
      title={isError ? `The upstream answered with status ${call.status}.` : text}
      data-decision={call.decision}
      className={className}
    >
      {isError ? `Error ${call.status}` : label}
    </Badge>
  );
}
