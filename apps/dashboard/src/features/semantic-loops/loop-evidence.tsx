/** A semantic loop opened: what the number means, what was done, and both prompts. Redacted and cut by the gateway. */
import { Link } from '@tanstack/react-router';
import type { SemanticLoopEvent } from '#contracts';
import { TextPair } from '../compared-texts/text-pair';
import { actionText, againstThreshold, occurrenceText, SCALE_TEXT } from './loop-texts';

interface LoopEvidenceProps {
  event: SemanticLoopEvent;
  /** Shown among the details of the looping call: narrow, and without a link to itself. */
  isOfOpenCall?: boolean;
}

export function LoopEvidence({ event, isOfOpenCall = false }: LoopEvidenceProps) {
  return (
    <div data-testid="loop-evidence" className="flex flex-col gap-2">
      <p className="text-muted text-xs">
        <span className="nums font-medium text-fg">Similarity {againstThreshold(event)}.</span> {SCALE_TEXT}
      </p>
      <TextPair
        marks="shared"
        isStacked={isOfOpenCall}
        texts={[
          {
            title: 'Asked before',
            text: event.similar_prompt,
            aside: <CallLink callId={event.similar_call_id} />,
          },
          {
            title: 'Asked again',
            text: event.prompt,
            aside: isOfOpenCall ? null : <CallLink callId={event.call_id} />,
          },
        ]}
      />
      <p className="text-muted text-xs">
        {actionText(event)} {occurrenceText(event.occurrence)}; compared by{' '}
        <span className="font-mono text-2xs [overflow-wrap:anywhere]">{event.model_id}</span>.
      </p>
    </div>
  );
}

function CallLink({ callId }: { callId: string }) {
  if (callId === '') return null;
  return (
    <Link to="/calls/$callId" params={{ callId }} className="shrink-0 text-accent hover:underline">
      The call
    </Link>
  );
}
