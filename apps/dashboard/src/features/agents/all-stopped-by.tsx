/** "All agents' calls are stopped by ana, 12 s ago · The key has leaked": for every operator who looks, at once. */
import type { AllAgentsPolicy } from '#contracts';
import { RelativeTime } from '../../ui';

/** @param policy under which none may call */
export function AllStoppedBy({ policy }: { policy: AllAgentsPolicy }) {
  const { deactivated_by, deactivated_at_ms, deactivated_reason } = policy;
  return (
    <>
      <span className="font-semibold">All agents' calls are stopped</span> by {deactivated_by ?? 'somebody'}
      {deactivated_at_ms === null ? null : (
        <>
          , <RelativeTime atMs={deactivated_at_ms} />
        </>
      )}
      {deactivated_reason ? ` · ${deactivated_reason}` : null}
    </>
  );
}
