/** "All agents' calls are stopped by ana, 12 s ago · The key has leaked": for every operator who looks, at once. */
import type { AllAgentsView } from '#contracts';
import { RelativeTime } from '../../ui';
import { NotStoredYet } from './not-stored-yet';

/** @param view of those of whom none may call */
export function AllStoppedBy({ view }: { view: AllAgentsView }) {
  const { deactivated_by, deactivated_at_ms, deactivated_reason } = view.policy;
  return (
    <>
      <span className="font-semibold">All agents' calls are stopped</span> by {deactivated_by ?? 'somebody'}
      {deactivated_at_ms === null ? null : (
        <>
          , <RelativeTime atMs={deactivated_at_ms} />
        </>
      )}
      {deactivated_reason ? ` · ${deactivated_reason}` : null}
      <NotStoredYet isStored={view.is_stop_stored} />
    </>
  );
}
