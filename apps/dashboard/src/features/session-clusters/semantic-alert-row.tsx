/** One session that asks the same again: what it asks, how alike, and the button. */
import { Repeat2 } from 'lucide-react';
import { memo } from 'react';
import { formatShare, plural } from '../../ui';
import { againstThreshold, REPEAT_TEXTS, repeatOf, SCALE_TEXT } from '../semantic-loops/loop-texts';
import { type AlertedSession, AlertRowFrame } from './alert-row-frame';
import type { SemanticAlert } from './semantic-alerts';

interface SemanticAlertRowProps extends AlertedSession {
  alert: SemanticAlert;
}

/** "Semantic loop: similarity 0.973, above 0.950": goes into the audit, which holds no prompts. */
const pauseReason = ({ latest }: SemanticAlert): string =>
  `Semantic loop: similarity ${againstThreshold(latest)}`;

export const SemanticAlertRow = memo(function SemanticAlertRow({ alert, ...shown }: SemanticAlertRowProps) {
  const { latest } = alert;
  return (
    <AlertRowFrame
      data-testid="semantic-alert-row"
      alert={alert}
      {...shown}
      figure={{
        name: 'Similarity',
        // Not as entropy is written in the same place, where little is bad.
        value: formatShare(latest.similarity),
        title: `Similarity ${againstThreshold(latest)}. ${SCALE_TEXT}`,
      }}
      countText={plural(alert.loop_count, 'repeat')}
      pauseReason={pauseReason(alert)}
    >
      <div className="flex min-w-0 items-center gap-2 max-md:flex-wrap max-md:gap-y-0" title={latest.prompt}>
        <Repeat2 size={14} aria-hidden="true" className="shrink-0 text-warning" />
        <span className="shrink-0 font-medium">{REPEAT_TEXTS[repeatOf(latest)].asks}</span>
        <span className="truncate text-muted max-md:basis-full">{latest.prompt}</span>
      </div>
    </AlertRowFrame>
  );
});
