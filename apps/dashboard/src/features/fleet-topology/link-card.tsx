/** What one link says: how much passed, how long it took, how the last step went. */
import type { TopologyEdge } from '#contracts';
import { Badge, plural, type Tone } from '../../ui';
import { formatLatency } from './stats-series';

const STATUS_TONES: Record<string, Tone> = { success: 'success', failure: 'danger', pending: 'accent' };

interface LinkCardProps {
  edge: TopologyEdge;
  fromAgent: string;
  toAgent: string;
}

export function LinkCard({ edge, fromAgent, toAgent }: LinkCardProps) {
  return (
    <div className="flex max-w-72 flex-col gap-1 rounded-md border border-line-strong bg-raised px-2.5 py-2 text-xs shadow-pop">
      <p className="font-medium [overflow-wrap:anywhere]">
        {fromAgent} <span className="text-muted">→</span> {toAgent}
      </p>
      <p className="nums flex flex-wrap items-center gap-2 text-muted">
        <span>{plural(edge.traffic_volume, 'step')}</span>
        <span>{formatLatency(edge.latency_ms)} median</span>
        <Badge tone={STATUS_TONES[edge.status] ?? 'neutral'}>{edge.status || 'unknown'}</Badge>
      </p>
    </div>
  );
}
