/**
 * An agent on the map, and the frame around a session. The further away, the less a card says: everything, its name
 * in larger letters, its colour. Calm states are toned down there, so that what needs somebody stands out.
 */
import type { NodeProps } from '@xyflow/react';
import { Ghost } from 'lucide-react';
import { memo } from 'react';
import { cx, formatCount, nodeColour, nodeLabel, truncateMiddle } from '../../ui';
import { knownState } from './fleet-search';
import type { AgentElement, ClusterElement } from './map-elements';

export const AgentNode = memo(function AgentNode({ data, width, height }: NodeProps<AgentElement>) {
  const { node, dimmed, selected, tabStop } = data;
  const state = knownState(node.state);
  const isCalm = state === 'active' || state === 'idle' || state === 'dead';
  const name = nodeLabel(state);
  return (
    <button
      type="button"
      tabIndex={tabStop ? 0 : -1}
      data-testid="fleet-node"
      data-node-id={node.node_id}
      data-agent-id={node.agent_id}
      data-state={node.state}
      aria-pressed={selected}
      style={{ width, height, '--state': nodeColour(state) } as React.CSSProperties}
      className={cx(
        'relative flex items-center gap-2 overflow-hidden rounded-lg border bg-surface pr-2.5 pl-3.5 text-left shadow-panel hover:bg-hover',
        'focus-visible:outline-[max(2px,calc(2px/var(--zoom,1)))]',
        isCalm
          ? 'group-data-[detail=colours]/map:bg-[color-mix(in_srgb,var(--state)_55%,var(--surface))]'
          : 'group-data-[detail=colours]/map:bg-(--state)',
        node.ghost && 'border-dashed',
        selected
          ? 'border-accent ring-[max(2px,calc(2px/var(--zoom,1)))] ring-accent'
          : 'border-line-strong group-data-[detail=colours]/map:border-transparent',
        state === 'dead' && 'text-muted',
        dimmed && 'opacity-25',
      )}
    >
      <span
        aria-hidden="true"
        className="absolute inset-y-0 left-0 w-1.5 bg-(--state) group-data-[detail=names]/map:w-2.5"
      />
      {state === 'alert_entropy' ? (
        <span
          aria-hidden="true"
          className="pointer-events-none absolute inset-0 rounded-lg border-3 border-(--state) motion-safe:animate-alert group-data-[detail=colours]/map:bg-(--state)"
        />
      ) : null}
      <span className="min-w-0 flex-1 group-data-[detail=colours]/map:sr-only">
        <span className="flex items-center gap-1 font-medium text-xs group-data-[detail=names]/map:text-[20px] group-data-[detail=names]/map:leading-7">
          {node.ghost ? <Ghost size={12} className="shrink-0 text-warning" aria-hidden="true" /> : null}
          <span className="truncate">{node.agent_id}</span>
        </span>
        <span className="sr-only">, {name},</span>
        <span
          aria-hidden={isCalm ? undefined : true}
          className="block truncate text-2xs text-muted group-data-[detail=names]/map:sr-only"
        >
          {isCalm ? node.last_intent || name : name}
        </span>
        {node.ghost ? <span className="sr-only">, never sent a valid message</span> : null}
      </span>
      <span className="nums shrink-0 self-start pt-2 font-mono text-2xs text-muted group-data-[detail=colours]/map:sr-only group-data-[detail=names]/map:sr-only">
        {formatCount(node.step_count)}
        <span className="sr-only"> steps</span>
      </span>
    </button>
  );
});

export const ClusterNode = memo(function ClusterNode({ data }: NodeProps<ClusterElement>) {
  const { session_id, width, height, agentCount } = data.cluster;
  return (
    <div
      style={{ width, height }}
      className="rounded-xl border border-line-strong/70 bg-sunken px-2.5 font-mono text-2xs text-muted"
    >
      <span className="block truncate group-data-[detail=colours]/map:invisible">
        {session_id ? `${truncateMiddle(session_id, 22)} · ${agentCount}` : 'No valid message yet'}
      </span>
    </div>
  );
});
