/** That a channel does not take what is sent, wherever the channel is named. */
import type { AlertChannel } from '#contracts';
import { Badge, formatExact, useNow } from '../../ui';
import { circuitText } from './circuit-text';

/** Draws nothing where it does. */
export function CircuitBadge({ channel: { circuit } }: { channel: AlertChannel }) {
  const text = useNow((nowMs) => circuitText(circuit, nowMs));
  if (text === null) return null;
  return (
    <Badge
      tone={circuit.state === 'resting' ? 'warning' : 'danger'}
      className="nums"
      title={circuit.retry_at_ms === null ? undefined : formatExact(circuit.retry_at_ms)}
    >
      {text}
    </Badge>
  );
}
