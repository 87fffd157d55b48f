/** What a crowd looks like from afar, and what one points at there. Pure. */
import { CARD, type PlacedFleet, type Point } from './fleet-layout';
import { type FleetData, type FleetNode, fleetColour } from './fleet-nodes';
import { type FleetState, fleetState } from './fleet-search';

/** Cards that look the same. Colours are CSS. */
export interface Spots {
  colour: string;
  /** Null: it has no edge of another colour. */
  edgeColour: string | null;
  opacity: number;
  /** Their top left corners. */
  points: Point[];
}

const DIMMED_OPACITY = 0.25;
/** Of the state's colour, in percent: what needs nobody is toned down. */
const STRENGTHS: Partial<Record<FleetState, number>> = { active: 60, idle: 60, dead: 25 };

/** As `AgentNode` draws them at that distance; few, however many cards there are. */
export function crowdSpots(
  { nodes }: FleetData,
  { points }: PlacedFleet,
  matches: (node: FleetNode) => boolean,
): Spots[] {
  const spots = new Map<string, Spots>();
  for (const node of nodes.values()) {
    const point = points.get(node.node_id);
    if (!point) continue;
    const look = lookOf(node, matches(node) ? 1 : DIMMED_OPACITY);
    const key = `${look.colour} ${look.edgeColour} ${look.opacity}`;
    const alike = spots.get(key);
    if (alike) alike.points.push(point);
    else spots.set(key, { ...look, points: [point] });
  }
  return [...spots.values()];
}

function lookOf(node: FleetNode, opacity: number): Omit<Spots, 'points'> {
  const state = fleetState(node);
  if (state === 'loop_rests') return { colour: 'var(--surface)', edgeColour: fleetColour(node), opacity };
  const colour = `color-mix(in srgb, ${fleetColour(node)} ${STRENGTHS[state] ?? 100}%, var(--surface))`;
  return { colour, edgeColour: null, opacity };
}

/** The agent whose card lies there; null where none does. */
export function nodeAt({ points }: PlacedFleet, at: Point): string | null {
  for (const [nodeId, { x, y }] of points)
    if (at.x >= x && at.x <= x + CARD.width && at.y >= y && at.y <= y + CARD.height) return nodeId;
  return null;
}
