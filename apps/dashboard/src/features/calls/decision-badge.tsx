/** What became of a call. An error of the upstream is forwarded too, and shown as the error it is. */
import { Lightbulb, Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import type { CallDecision, LlmCall } from '#contracts';
import { Badge } from '../../ui';
import { cachedText } from './cache-texts';
import { DECISIONS } from './decision-texts';

/** What we did to a call that went well is told apart from what we let through. */
const ICONS: Partial<Record<CallDecision, ReactNode>> = {
  hinted: <Lightbulb size={11} aria-hidden="true" />,
  cached: <Zap size={11} aria-hidden="true" />,
};

export function DecisionBadge({ call }: { call: Pick<LlmCall, 'decision' | 'status' | 'cache'> }) {
  const { label, tone, text } = DECISIONS[call.decision] ?? DECISIONS.forwarded;
  const { cache } = call;
  const isError = call.decision === 'forwarded' && call.status >= 400;
  return (
    <Badge
      tone={isError ? 'danger' : tone}
      icon={ICONS[call.decision]}
      title={isError ? `The upstream answered with status ${call.status}.` : cache ? cachedText(cache) : text}
    >
      {isError ? `Error ${call.status}` : label}
      {cache?.match === 'semantic' ? (
        <>
          <span aria-hidden="true">≈</span>
          <span className="sr-only">, a similar question</span>
        </>
      ) : null}
    </Badge>
  );
}
