/**
 * The fleet as React Flow draws it. Elements are cached by what they were made of: one that did not change is the same
 * object as before, so that a delta of three nodes re-renders three of two thousand.
 */
import { type Edge, MarkerType, type Node, Position } from '@xyflow/react';
import type { TopologyEdge } from '#contracts';
import { edgeKey } from '../../realtime';
import { type Area, CARD, type Cluster, extentOf, type PlacedFleet, type Point } from './fleet-layout';
import { type FleetData, type FleetNode, fleetLabel } from './fleet-nodes';
import { type LinkPath, linkPath } from './link-path';

export type AgentElement = Node<
  {
    node: FleetNode;
    dimmed: boolean;
    selected: boolean;
    tabStop: boolean;
    /** It loops, and its name stands above its card. */
    named: boolean;
  },
  'agent'
>;
export type ClusterElement = Node<{ cluster: Cluster }, 'cluster'>;
export type LinkElement = Edge<
  { edge: TopologyEdge; curve: LinkPath; dimmed: boolean; lit: boolean },
  'link'
>;

export interface MapFocus {
  selectedId: string | null;
  /** The one node in the tab order. */
  tabStopId: string | null;
  matches: (node: FleetNode) => boolean;
  /** Looping agents with a name above their card. */
  named: ReadonlySet<string>;
}

/** Of a crowd from afar; what loops beyond them is painted as others are, and does not flash. */
const LOOPS_DRAWN_MAX = 400;

/** Links of one agent in the tab order; its details list them all. Those of other agents are never in it. */
const FOCUSABLE_LINKS_MAX = 20;

const HANDLES = [
  {
    type: 'source' as const,
    position: Position.Right,
    x: CARD.width / 2,
    y: CARD.height / 2,
    width: 1,
    height: 1,
  },
  {
    type: 'target' as const,
    position: Position.Left,
    x: CARD.width / 2,
    y: CARD.height / 2,
    width: 1,
    height: 1,
  },
];
/** React Flow names every element "node" and points at instructions that are not ours. */
const PLAIN = { 'aria-roledescription': undefined, 'aria-describedby': undefined };

export class MapElements {
  #agents = new Map<string, AgentElement>();
  #clusters = new Map<string, ClusterElement>();
  #links = new Map<string, LinkElement>();

  nodes(topology: FleetData, placed: PlacedFleet, focus: MapFocus): (AgentElement | ClusterElement)[] {
    const clusters = placed.clusters.map((cluster) => this.#cluster(cluster));
    this.#clusters = new Map(clusters.map((element) => [element.id, element]));
    const agents: AgentElement[] = [];
    for (const node of topology.nodes.values()) {
      const point = placed.points.get(node.node_id);
      if (point) agents.push(this.#agent(node, point, focus));
    }
    this.#agents = new Map(agents.map((element) => [element.id, element]));
    return [...clusters, ...agents];
  }

  /**
   * Of a crowd: what lies in that area, flashes, is selected with what it is linked to, or is reached by keyboard; and an
   * element that nobody sees, as large as all of it, so that all of it can be brought into view.
   *
   * @param area in map pixels; null from afar, where all else is painted
   */
  crowdNodes(
    topology: FleetData,
    placed: PlacedFleet,
    focus: MapFocus,
    area: Area | null,
  ): (AgentElement | ClusterElement)[] {
    const wanted = wantedNodes(topology, focus);
    const agents: AgentElement[] = [];
    for (const node of topology.nodes.values()) {
      const point = placed.points.get(node.node_id);
      if (point && (wanted.has(node.node_id) || (area && overlaps(area, { ...point, ...CARD }))))
        agents.push(this.#agent(node, point, focus));
    }
    this.#agents = new Map(agents.map((element) => [element.id, element]));
    const frames = area ? placed.clusters.filter((cluster) => overlaps(area, cluster)) : [];
    const clusters = frames.map((cluster) => this.#cluster(cluster));
    this.#clusters = new Map(clusters.map((element) => [element.id, element]));
    const whole = { key: 'whole', session_id: '', x: 0, y: 0, ...extentOf(placed), agentCount: 0 };
    const unseen = {
      ...this.#cluster(whole),
      style: { pointerEvents: 'none', visibility: 'hidden' } as const,
    };
    return [unseen, ...clusters, ...agents];
  }

  links(topology: FleetData, placed: PlacedFleet, focus: MapFocus): LinkElement[] {
    const links: LinkElement[] = [];
    let focusableCount = 0;
    for (const edge of topology.edges.values()) {
      const from = placed.points.get(edge.from);
      const to = placed.points.get(edge.to);
      const source = topology.nodes.get(edge.from);
      const target = topology.nodes.get(edge.to);
      if (!from || !to || !source || !target || source === target) continue;
      const dimmed = !focus.matches(source) || !focus.matches(target);
      const lit = edge.from === focus.selectedId || edge.to === focus.selectedId;
      const focusable =
        (edge.from === focus.tabStopId || edge.to === focus.tabStopId) &&
        focusableCount < FOCUSABLE_LINKS_MAX;
      if (focusable) focusableCount += 1;
      links.push(this.#link(edge, { from, to, dimmed, lit, focusable }, [source, target]));
    }
    this.#links = new Map(links.map((element) => [element.id, element]));
    return links;
  }

  #agent(node: FleetNode, point: Point, focus: MapFocus): AgentElement {
    const dimmed = !focus.matches(node);
    const selected = node.node_id === focus.selectedId;
    const tabStop = node.node_id === focus.tabStopId;
    const named = focus.named.has(node.node_id);
    const known = this.#agents.get(node.node_id);
    if (
      known?.data.node === node &&
      known.data.dimmed === dimmed &&
      known.data.selected === selected &&
      known.data.tabStop === tabStop &&
      known.data.named === named
    )
      return known;
    return {
      id: node.node_id,
      type: 'agent',
      position: point,
      ...CARD,
      measured: CARD,
      handles: HANDLES,
      data: { node, dimmed, selected, tabStop, named },
      domAttributes: PLAIN,
      // Above its neighbours: from afar its name is larger than its card.
      zIndex: node.state === 'alert_entropy' && !node.rest ? 2 : 1,
    };
  }

  #cluster(cluster: Cluster): ClusterElement {
    const known = this.#clusters.get(cluster.key)?.data.cluster;
    if (known && sameCluster(known, cluster)) return this.#clusters.get(cluster.key) as ClusterElement;
    const { width, height } = cluster;
    return {
      id: cluster.key,
      type: 'cluster',
      position: { x: cluster.x, y: cluster.y },
      width,
      height,
      measured: { width, height },
      handles: [],
      data: { cluster },
      domAttributes: PLAIN,
      zIndex: -1,
      style: { pointerEvents: 'none' },
    };
  }

  #link(
    edge: TopologyEdge,
    {
      from,
      to,
      dimmed,
      lit,
      focusable,
    }: { from: Point; to: Point; dimmed: boolean; lit: boolean; focusable: boolean },
    [source, target]: readonly [FleetNode, FleetNode],
  ): LinkElement {
    const id = edgeKey(edge);
    const known = this.#links.get(id);
    if (
      known?.data?.edge === edge &&
      known.data.dimmed === dimmed &&
      known.data.lit === lit &&
      known.focusable === focusable
    )
      return known;
    const look = lit ? 'lit' : edge.status === 'failure' ? 'failing' : 'plain';
    return {
      id,
      type: 'link',
      source: edge.from,
      target: edge.to,
      data: { edge, curve: linkPath(from, to), dimmed, lit },
      focusable,
      ariaLabel: `Link from ${source.agent_id}, ${fleetLabel(source)}, to ${target.agent_id}`,
      ariaRole: focusable ? 'group' : 'img',
      className: `is-${look}`,
      markerEnd: ARROWS[look],
      domAttributes: { 'aria-describedby': undefined },
    };
  }
}

/** Wherever they lie. */
function wantedNodes({ nodes, edges }: FleetData, { selectedId, tabStopId }: MapFocus): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const { node_id, state, rest } of nodes.values()) {
    if (wanted.size >= LOOPS_DRAWN_MAX) break;
    if (state === 'alert_entropy' && !rest) wanted.add(node_id);
  }
  if (tabStopId !== null) wanted.add(tabStopId);
  if (selectedId === null) return wanted;
  wanted.add(selectedId);
  for (const { from, to } of edges.values()) {
    if (from === selectedId) wanted.add(to);
    if (to === selectedId) wanted.add(from);
  }
  return wanted;
}

const overlaps = (a: Area, b: Area): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** In map pixels, whatever the width of the link. */
const HEAD = { width: 34, height: 34, markerUnits: 'userSpaceOnUse' } as const;
const ARROWS = {
  plain: { type: MarkerType.ArrowClosed, ...HEAD, color: 'var(--link-stroke)' },
  failing: { type: MarkerType.ArrowClosed, ...HEAD, color: 'var(--danger)' },
  lit: { type: MarkerType.ArrowClosed, ...HEAD, color: 'var(--accent)' },
} as const;

const sameCluster = (a: Cluster, b: Cluster): boolean =>
  a.x === b.x &&
  a.y === b.y &&
  a.width === b.width &&
  a.height === b.height &&
  a.agentCount === b.agentCount &&
  a.session_id === b.session_id;
