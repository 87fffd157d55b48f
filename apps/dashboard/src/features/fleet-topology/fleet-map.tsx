/**
 * The map. One agent is in the tab order; arrow keys go to its neighbours, Enter inspects, Space shows details. Loaded
 * on its own, since React Flow is heavy.
 */
import {
  Background,
  BackgroundVariant,
  Controls,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useOnViewportChange,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import './fleet-map.css';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { useTheme } from '../../app/theme';
import { AgentNode, ClusterNode } from './agent-node';
import { CrowdCanvas } from './crowd-canvas';
import { nodeAt } from './crowd-spots';
import { type Area, CARD, type PlacedFleet } from './fleet-layout';
import { type FleetData, type FleetNode, fleetColour } from './fleet-nodes';
import { fleetState } from './fleet-search';
import { LinkEdge } from './link-edge';
import { LinkTip } from './link-tip';
import { type LoopCard, loopName, namedLoops, zoomStep } from './loop-names';
import { detailAt, MapDetailContext } from './map-detail';
import { type AgentElement, type ClusterElement, MapElements } from './map-elements';
import { isArrow, nextNode } from './next-node';
import { useAutoFit, useIsAllInView } from './use-auto-fit';

const NODE_TYPES = { agent: AgentNode, cluster: ClusterNode };
const EDGE_TYPES = { link: LinkEdge };
/** With fewer nodes than this one finds one's way without an overview, which covers some of them. */
const OVERVIEW_ABOVE = 60;
/** With more nodes than this, those outside the view are not in the page. */
const DRAW_ALL_MAX = 400;
/**
 * With more nodes than this, they are painted where they are mere colours, and elements in and around the view elsewhere: React
 * Flow draws for a moment all that it was given. They have no overview beside them.
 */
const ELEMENTS_MAX = 1_500;

const hasOverview = (nodeCount: number): boolean => nodeCount > OVERVIEW_ABOVE && nodeCount <= ELEMENTS_MAX;

const NO_NAMES: ReadonlySet<string> = new Set();

interface FleetMapProps {
  topology: FleetData;
  placed: PlacedFleet;
  matches: (node: FleetNode) => boolean;
  selectedId: string | null;
  onSelect: (nodeId: string | null) => void;
  onInspect: (node: FleetNode) => void;
}

export function FleetMap(props: FleetMapProps) {
  return (
    <ReactFlowProvider>
      <MapCanvas {...props} />
    </ReactFlowProvider>
  );
}

function MapCanvas({ topology, placed, matches, selectedId, onSelect, onInspect }: FleetMapProps) {
  const theme = useTheme((state) => state.theme);
  const host = useRef<HTMLDivElement>(null);
  const [elements] = useState(() => new MapElements());
  const [hoveredId, setHoveredId] = useState<string | null>(null);
  const [pinnedId, setPinnedId] = useState<string | null>(null);
  const [lastFocusedId, setLastFocusedId] = useState<string | null>(null);
  useZoomVariable(host);
  const detail = useStore((state) => detailAt(state.transform[2]));
  const autoFit = useAutoFit(placed);
  const flow = useReactFlow();
  const focusNode = useFocusNode(host, placed, setLastFocusedId);

  const tabStopId = useMemo(
    () => tabStop(topology, matches, [lastFocusedId, selectedId]),
    [topology, matches, lastFocusedId, selectedId],
  );
  const zoom = useStore(({ transform }) => zoomStep(transform[2]));
  const named = useMemo(
    () => (detail === 'colours' ? namedLoops(loopCards(topology, placed, matches), zoom) : NO_NAMES),
    [detail, topology, placed, matches, zoom],
  );
  const focus = useMemo(
    () => ({ selectedId, tabStopId, matches, named }),
    [selectedId, tabStopId, matches, named],
  );
  const hasElements = topology.nodes.size <= ELEMENTS_MAX;
  const isPainted = !hasElements && (detail === 'colours' || !autoFit.isFitted);
  const area = useAreaInView(!hasElements && !isPainted);
  const nodes = useMemo(
    () =>
      hasElements
        ? elements.nodes(topology, placed, focus)
        : elements.crowdNodes(topology, placed, focus, area),
    [hasElements, area, elements, topology, placed, focus],
  );
  const links = useMemo(() => elements.links(topology, placed, focus), [elements, topology, placed, focus]);

  const isAllInView = useIsAllInView(placed);
  const isCrowd = topology.nodes.size > DRAW_ALL_MAX;
  // From afar, thousands of links are a smear that takes seconds to draw: only those of the selected agent stay.
  const drawnLinks = useMemo(
    () => (isCrowd && detail === 'colours' ? links.filter(({ data }) => data?.lit) : links),
    [isCrowd, detail, links],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    const nodeId = (event.target as HTMLElement).dataset.nodeId;
    const node = nodeId === undefined ? undefined : topology.nodes.get(nodeId);
    if (!node) return;
    if (isArrow(event.key)) {
      const next = nextNode(visiblePoints(placed, topology, matches), node.node_id, event.key);
      if (next) focusNode(next);
    } else if (event.key === 'Enter' && node.session_id) onInspect(node);
    else if (event.key === 'Escape' && selectedId) onSelect(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and focus of the agents inside, which are buttons.
    <div
      ref={host}
      className="fleet-map size-full"
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const target = event.target as Element;
        const linkId = target.closest('.react-flow__edge')?.getAttribute('data-id');
        if (linkId) setHoveredId(linkId);
        const nodeId = (target as HTMLElement).dataset?.nodeId;
        if (nodeId) setLastFocusedId(nodeId);
      }}
      onBlur={() => setHoveredId(null)}
    >
      {tabStopId ? (
        <button
          type="button"
          onClick={() => focusNode(tabStopId)}
          className="absolute top-2 left-2 z-10 rounded-md border border-line-strong bg-raised px-2 py-1 text-xs shadow-pop not-focus:sr-only"
        >
          Go to agents. Arrows move, Enter inspects, Space shows details
        </button>
      ) : null}
      <MapDetailContext value={detail}>
        <ReactFlow<AgentElement | ClusterElement>
          nodes={nodes}
          edges={drawnLinks}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          colorMode={theme}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          zoomOnDoubleClick={false}
          onlyRenderVisibleElements={isCrowd}
          minZoom={0.01}
          maxZoom={1.6}
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          onInit={autoFit.onInit}
          onMoveStart={autoFit.onMoveStart}
          onNodeClick={(_event, element) =>
            element.type === 'agent' && onSelect(element.id === selectedId ? null : element.id)
          }
          onEdgeClick={(_event, link) => setPinnedId(link.id)}
          onEdgeMouseEnter={(_event, link) => setHoveredId(link.id)}
          onEdgeMouseLeave={() => setHoveredId(null)}
          onPaneClick={({ clientX, clientY }) => {
            setPinnedId(null);
            const at = flow.screenToFlowPosition({ x: clientX, y: clientY });
            onSelect(isPainted ? nodeAt(placed, at) : null);
          }}
          aria-label="Map of agents and what they cause"
        >
          {isPainted ? <CrowdCanvas topology={topology} placed={placed} matches={matches} /> : null}
          <Background variant={BackgroundVariant.Dots} gap={28} size={1} />
          <Controls
            showInteractive={false}
            position="bottom-left"
            onZoomIn={autoFit.leaveToThem}
            onZoomOut={autoFit.leaveToThem}
            onFitView={autoFit.onFitView}
          />
          {hasOverview(topology.nodes.size) && !isAllInView ? (
            // On the way down: the overview lets none of them out.
            <div
              className="contents"
              onPointerDownCapture={autoFit.leaveToThem}
              onWheelCapture={autoFit.leaveToThem}
            >
              <MiniMap<AgentElement | ClusterElement>
                pannable
                zoomable
                ariaLabel="Overview of the map"
                className="max-md:!hidden"
                nodeColor={(element) =>
                  element.type === 'agent' ? fleetColour(element.data.node) : 'transparent'
                }
                nodeStrokeWidth={0}
                nodeBorderRadius={12}
              />
            </div>
          ) : null}
          <LinkTip link={links.find(({ id }) => id === (hoveredId ?? pinnedId))} topology={topology} />
        </ReactFlow>
      </MapDetailContext>
    </div>
  );
}

/** What loops and is not filtered out. */
function loopCards(
  { nodes }: FleetData,
  { points }: PlacedFleet,
  matches: (node: FleetNode) => boolean,
): LoopCard[] {
  const cards: LoopCard[] = [];
  for (const node of nodes.values()) {
    const at = points.get(node.node_id);
    if (at && fleetState(node) === 'alert_entropy' && matches(node))
      cards.push({ node_id: node.node_id, name: loopName(node.agent_id), at });
  }
  return cards;
}

/** The agent that Tab reaches: the last one that was focused or selected, else the first that matches. */
function tabStop(
  { nodes }: FleetData,
  matches: (node: FleetNode) => boolean,
  wanted: readonly (string | null)[],
): string | null {
  for (const id of wanted) {
    const node = id === null ? undefined : nodes.get(id);
    if (node && matches(node)) return node.node_id;
  }
  for (const node of nodes.values()) if (matches(node)) return node.node_id;
  return null;
}

function visiblePoints(placed: PlacedFleet, { nodes }: FleetData, matches: (node: FleetNode) => boolean) {
  return new Map(
    [...placed.points].filter(([nodeId]) => {
      const node = nodes.get(nodeId);
      return node !== undefined && matches(node);
    }),
  );
}

/** What is in view and as much around it, in steps of that size, so that a movement changes it now and then; null: not asked. */
function useAreaInView(isAsked: boolean): Area | null {
  const key = useStore(({ transform: [x, y, zoom], width, height }) => {
    const [stepX, stepY] = [width / zoom, height / zoom];
    return isAsked ? [Math.round(-x / zoom / stepX), Math.round(-y / zoom / stepY), stepX, stepY].join() : '';
  });
  return useMemo(() => {
    if (key === '') return null;
    const [column = 0, row = 0, width = 0, height = 0] = key.split(',').map(Number);
    return { x: (column - 1) * width, y: (row - 1) * height, width: 3 * width, height: 3 * height };
  }, [key]);
}

/** Focus rings keep their width at any zoom: the zoom is a CSS variable, so that no node re-renders for it. */
function useZoomVariable(host: React.RefObject<HTMLDivElement | null>): void {
  useOnViewportChange({
    onChange: ({ zoom }) => host.current?.style.setProperty('--zoom', String(zoom)),
  });
}

/** Brings an agent into view if it is not, then focuses it; it may be drawn only then. */
function useFocusNode(
  host: React.RefObject<HTMLDivElement | null>,
  placed: PlacedFleet,
  onFocused: (nodeId: string) => void,
): (nodeId: string) => void {
  const flow = useReactFlow();
  return (nodeId) => {
    const point = placed.points.get(nodeId);
    const frame = host.current?.getBoundingClientRect();
    if (!point || !frame) return;
    onFocused(nodeId);
    const { x, y } = flow.flowToScreenPosition(point);
    const isInView =
      x > frame.left + 8 && x < frame.right - 120 && y > frame.top + 8 && y < frame.bottom - 60;
    if (!isInView)
      void flow.setCenter(point.x + CARD.width / 2, point.y + CARD.height / 2, {
        zoom: flow.getZoom(),
        duration: 0,
      });
    const find = () => host.current?.querySelector<HTMLElement>(`[data-node-id="${CSS.escape(nodeId)}"]`);
    const focus = () => find()?.focus({ preventScroll: true });
    // At once where it can be: the next arrow goes on from what has the focus.
    if (find()) focus();
    else requestAnimationFrame(() => requestAnimationFrame(focus));
  };
}
