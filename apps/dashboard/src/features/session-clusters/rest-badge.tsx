/** Why a session that has an alert burns no more. */
import type { SessionView } from '#contracts';
import { Badge, RelativeTime } from '../../ui';
import { ControlBadge } from '../hitl-console/control-badge';
import { type Rest, STOPPED_LABELS, STOPPED_TEXTS } from './rest';

const REST_TITLES = {
  ...STOPPED_TEXTS,
  agent_killed: 'The kill switch stopped its agent: its calls are refused until somebody reactivates it.',
  agent_off: 'An operator deactivated its agent: its calls are refused until somebody reactivates it.',
  all_stopped: "All agents' calls are stopped: its own are refused until somebody lets them run.",
  silent: 'It was looping when it fell silent. It counts again with its next step.',
} as const;

export function RestBadge({ rest, session }: { rest: Rest; session: SessionView }) {
  if (rest === 'held') return <ControlBadge control={session.control} className="max-w-40" />;
  return (
    <Badge title={REST_TITLES[rest]}>
      {rest === 'silent' ? (
        <>
          Silent <RelativeTime atMs={session.last_seen_ms} short />
        </>
      ) : (
        STOPPED_LABELS[rest]
      )}
    </Badge>
  );
}
