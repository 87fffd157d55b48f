/** An agent on the map, and the frame around a session. Far away, a card becomes a block of its state's colour. */
import type { NodeProps } from '@xyflow/react';
import { Ghost } from 'lucide-react';
import { memo } from 'react';
import { cx, formatCount, nodeColour, nodeLabel, truncateMiddle } from '../../ui';
import { knownState } from './fleet-search';
import type { AgentElement, ClusterElement } from './map-elements';

export const AgentNode = memo(function AgentNode({ data, width, height }: NodeProps<AgentElement>) {
  const { node, dimmed, selected, tabStop } = data;
  const state = knownState(node.state);
  const isAlert = state === 'alert_entropy';
  return (
    <button
      type="button"
      tabIndex={tabStop ? 0 : -1}
      data-testid="fleet-node"
      data-node-id={node.node_id}
      data-agent-id={node.agent_id}
      data-state={node.state}
      aria-pressed={selected}
      aria-label={`${node.agent_id}, ${nodeLabel(state)}, ${node.step_count} steps${node.ghost ? ', never sent a valid message' : ''}`}
      style={{ width, height, '--state': nodeColour(state) } as React.CSSProperties}
      className={cx(
        'relative flex items-center gap-2 overflow-hidden rounded-lg border bg-surface pr-2.5 pl-3.5 text-left shadow-panel transition-colors hover:bg-hover',
        'group-data-[far=true]/map:border-transparent group-data-[far=true]/map:bg-(--state)',
        node.ghost && 'border-dashed',
        selected ? 'border-accent ring-2 ring-accent' : 'border-line-strong',
        state === 'dead' && 'text-muted',
        dimmed && 'opacity-25',
      )}
    >
      <span aria-hidden="true" className="absolute inset-y-0 left-0 w-1.5 bg-(--state)" />
      {isAlert ? (
        <span
          aria-hidden="true"
          className="motion-safe:animate-alert pointer-events-none absolute inset-0 rounded-lg border-2 border-(--state)"
        />
      ) : null}
      <span className="min-w-0 flex-1 group-data-[far=true]/map:hidden">
        <span className="flex items-center gap-1 truncate font-medium text-xs">
          {node.ghost ? <Ghost size={12} className="shrink-0 text-warning" aria-hidden="true" /> : null}
          <span className="truncate">{node.agent_id}</span>
        </span>
        <span className="block truncate text-2xs text-muted">
          {state === 'active' || state === 'idle' || state === 'dead'
            ? node.last_intent || nodeLabel(state)
            : nodeLabel(state)}
        </span>
      </span>
      <span className="nums shrink-0 self-start pt-2 font-mono text-2xs text-muted group-data-[far=true]/map:hidden">
        {formatCount(node.step_count)}
      </span>
    </button>
  );
});

export const ClusterNode = memo(function ClusterNode({ data }: NodeProps<ClusterElement>) {
  const { session_id, width, height, agentCount } = data.cluster;
  return (
    <div
      style={{ width, height }}
      className="rounded-xl border border-line bg-sunken/70 px-3 pt-0.5 font-mono text-2xs text-muted"
    >
      <span className="group-data-[far=true]/map:invisible">
        {session_id ? `${truncateMiddle(session_id, 22)} · ${agentCount}` : 'No valid message yet'}
      </span>
    </div>
  );
});
