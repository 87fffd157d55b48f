/** One agent of the map: what it is doing, and which agents it causes or is caused by. */
import { Link } from '@tanstack/react-router';
import { ArrowDownLeft, ArrowUpRight, ScanSearch, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TopologyEdge } from '#contracts';
import { NONE_SINCE_START } from '../../app/begun-anew';
import {
  Badge,
  cx,
  Fact,
  formatCount,
  IconButton,
  Identifier,
  RelativeTime,
  StateDot,
  withUnseen,
} from '../../ui';
import { dotOf, type FleetData, type FleetNode, fleetLabel, isFromBefore } from './fleet-nodes';
import { formatLatency } from './stats-series';

interface NodeDetailsProps {
  node: FleetNode;
  topology: FleetData;
  onSelect: (nodeId: string) => void;
  /** Absent where the frame around it can be closed. */
  onClose?: () => void;
}

export function NodeDetails({ node, topology, onSelect, onClose }: NodeDetailsProps) {
  const edges = [...topology.edges.values()];
  const incoming = edges.filter((edge) => edge.to === node.node_id);
  const outgoing = edges.filter((edge) => edge.from === node.node_id);
  return (
    <section
      aria-label={`Agent ${node.agent_id}`}
      className={cx(
        'flex min-w-0 flex-col',
        onClose ? 'rounded-lg border border-line bg-surface shadow-panel' : '-mx-3 -mb-3',
      )}
    >
      <header className="flex items-start gap-2 px-3 pt-2.5">
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold text-md [overflow-wrap:anywhere]">{withUnseen(node.agent_id)}</h2>
          <div className="mt-0.5 flex flex-wrap items-center gap-2 text-muted text-xs">
            <StateDot
              state={dotOf(node)}
              rest={node.rest && fleetLabel(node)}
              label={fleetLabel(node)}
              withLabel
            />
            {node.agent_type ? <span>{node.agent_type}</span> : null}
            {node.ghost ? <Badge tone="warning">Never valid</Badge> : null}
          </div>
        </div>
        {onClose ? (
          <IconButton
            label="Close details"
            icon={<X size={15} aria-hidden="true" />}
            onClick={onClose}
            className="-mr-1"
          />
        ) : null}
      </header>
      <dl className="grid grid-cols-[max-content_1fr] items-baseline gap-x-4 gap-y-1.5 px-3 py-2.5 text-xs">
        {node.session_id ? (
          <Fact name="Session">
            <Identifier id={node.session_id} charsMax={26} kind="session id" />
          </Fact>
        ) : null}
        <Fact name="Last intent">
          <span className="[overflow-wrap:anywhere]">{node.last_intent || 'None yet'}</span>
        </Fact>
        <Fact name="Steps">
          {isFromBefore(node) ? (
            NONE_SINCE_START
          ) : (
            <span className="nums">{formatCount(node.step_count)}</span>
          )}
        </Fact>
        <Fact name="Last seen">
          <RelativeTime atMs={node.last_seen_ms} />
        </Fact>
      </dl>
      <LinkList
        title="Causes"
        icon={<ArrowUpRight size={13} aria-hidden="true" />}
        edges={outgoing}
        end="to"
        topology={topology}
        onSelect={onSelect}
      />
      <LinkList
        title="Caused by"
        icon={<ArrowDownLeft size={13} aria-hidden="true" />}
        edges={incoming}
        end="from"
        topology={topology}
        onSelect={onSelect}
      />
      {node.session_id ? (
        <div className="border-line border-t p-2">
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId: node.session_id }}
            className="flex h-8 items-center justify-center gap-1.5 rounded-md bg-accent-solid font-medium text-white hover:bg-accent-solid-hover max-md:h-10"
          >
            <ScanSearch size={14} aria-hidden="true" />
            Inspect session
          </Link>
        </div>
      ) : (
        <p className="border-line border-t px-3 py-2 text-muted text-xs">
          Known only by refused messages, so it has no session to inspect.
        </p>
      )}
    </section>
  );
}

interface LinkListProps {
  title: string;
  icon: ReactNode;
  edges: readonly TopologyEdge[];
  /** Which end of the links is the other agent. */
  end: 'from' | 'to';
  topology: FleetData;
  onSelect: (nodeId: string) => void;
}

function LinkList({ title, icon, edges, end, topology, onSelect }: LinkListProps) {
  if (edges.length === 0) return null;
  return (
    <div className="border-line border-t px-1.5 py-1.5">
      <h3 className="flex items-center gap-1 px-1.5 py-0.5 font-medium text-2xs text-muted">
        {icon}
        {title}
      </h3>
      <ul className="max-h-44 overflow-y-auto">
        {edges.map((edge) => {
          const other = topology.nodes.get(edge[end]);
          return (
            <li key={edge[end]}>
              <button
                type="button"
                onClick={() => onSelect(edge[end])}
                className="flex w-full min-w-0 items-center gap-2 rounded px-1.5 py-1 text-left text-xs hover:bg-hover max-md:py-2"
              >
                <StateDot state={other ? dotOf(other) : 'idle'} rest={other?.rest && fleetLabel(other)} />
                <span className="truncate">{other?.agent_id ?? edge[end]}</span>
                <span className="nums ml-auto shrink-0 text-muted">
                  {formatCount(edge.traffic_volume)}× · {formatLatency(edge.latency_ms)}
                </span>
                {edge.status === 'failure' ? <Badge tone="danger">failure</Badge> : null}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
