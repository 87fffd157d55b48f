/** "ana, 3 min ago": who changed what an agent is set to. Nothing where nobody has. */
import type { AgentKillSwitch, AgentPolicy } from '#contracts';
import { RelativeTime } from '../../ui';

type Dated = Pick<AgentPolicy | AgentKillSwitch, 'updated_at_ms' | 'updated_by'>;

export function LastChange({ of: { updated_at_ms, updated_by } }: { of: Dated }) {
  if (updated_at_ms === null) return null;
  return (
    <span className="truncate text-muted text-xs">
      {updated_by}, <RelativeTime atMs={updated_at_ms} />
    </span>
  );
}
