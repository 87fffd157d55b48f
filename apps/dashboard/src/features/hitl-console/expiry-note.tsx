/** When an abandoned pause ends by itself, and what becomes of the session then: a held deployment may go out at that. */
import { useQuery } from '@tanstack/react-query';
import { type ControlView, isStoppedState } from '#contracts';
import { configQuery } from '../../api';
import { useNow } from '../../ui';
import { expiryText } from './control-texts';

export function ExpiryNote({ control }: { control: ControlView }) {
  const isAwaited = control.expires_at_ms !== null && isStoppedState(control.state);
  // Without an answer it says when, and leaves out what.
  const action = useQuery({ ...configQuery, enabled: isAwaited }).data?.values.hitl_expiry_action;
  const minutes = useNow((nowMs) =>
    control.expires_at_ms === null ? null : Math.max(0, Math.ceil((control.expires_at_ms - nowMs) / 60_000)),
  );
  if (!isAwaited || minutes === null) return null;
  return <span className="nums">{expiryText(minutes, action)}</span>;
}
