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
  const text = useNow((nowMs) =>
    control.expires_at_ms === null ? null : expiryText(control.expires_at_ms - nowMs, action),
  );
  return isAwaited ? <span className="nums">{text}</span> : null;
}
