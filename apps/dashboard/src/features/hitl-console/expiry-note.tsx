/** When an abandoned pause ends by itself. */
import type { ControlView } from '#contracts';
import { useNow } from '../../ui';

export function ExpiryNote({ control }: { control: ControlView }) {
  const minutes = useNow((nowMs) =>
    control.expires_at_ms === null ? null : Math.max(0, Math.ceil((control.expires_at_ms - nowMs) / 60_000)),
  );
  if (minutes === null || control.state === 'active' || control.state === 'terminated') return null;
  return <span className="nums">The pause expires in {minutes} min unless you act.</span>;
}
