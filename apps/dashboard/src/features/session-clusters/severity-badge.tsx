/** How repetitive a session is, in a word. */
import { Repeat, Repeat2 } from 'lucide-react';
import type { Severity } from '#contracts';
import { Badge, cx, SEVERITY_LABELS } from '../../ui';

interface SeverityBadgeProps {
  severity: Severity;
  isEnded?: boolean;
  /** Ended, held or silent: nothing about it is urgent. */
  rests?: boolean;
  /** It asks the same again now, whatever its steps. */
  isReworded?: boolean;
}

export function SeverityBadge({
  severity,
  isEnded = false,
  rests = isEnded,
  isReworded = false,
}: SeverityBadgeProps) {
  if (isReworded) {
    return (
      <Badge
        tone="danger"
        icon={<Repeat2 size={11} aria-hidden="true" className="flashes" />}
        title="It asks the same again."
      >
        {SEVERITY_LABELS.loop}
      </Badge>
    );
  }
  if (severity === 'normal')
    return <span className="text-faint text-xs">{isEnded ? 'Ended' : 'Normal'}</span>;
  const icon = (
    <Repeat size={11} aria-hidden="true" className={cx(severity === 'loop' && !rests && 'flashes')} />
  );
  const tone = severity === 'loop' ? 'danger' : 'warning';
  return (
    <Badge tone={rests ? 'neutral' : tone} icon={icon}>
      {SEVERITY_LABELS[severity]}
    </Badge>
  );
}
