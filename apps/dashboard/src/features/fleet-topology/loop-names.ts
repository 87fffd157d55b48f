/**
 * Which looping agents are named where cards are mere colours: as many as can be read. A name is larger than its card
 * there, so one that would cover another, or another card that loops, is left out. Pure.
 */
import { truncateMiddle } from '../../ui/format';
import { CARD, type Point } from './fleet-layout';

/** Candidates looked at; beyond them the map is a wall of red, and no name tells them apart. */
const CANDIDATES_MAX = 200;
const NAME_CHARS_MAX = 16;
/** On the screen, at any zoom: text of 12 px in its box, a little wider than most names are. */
const NAME_HEIGHT_PX = 18;
const CHAR_WIDTH_PX = 7.2;
const NAME_PADDING_PX = 10;

export interface LoopCard {
  node_id: string;
  name: string;
  at: Point;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export const loopName = (agentId: string): string => truncateMiddle(agentId, NAME_CHARS_MAX);

/** Zooms are told apart this coarsely, so that gliding through them decides anew a few times only. Never above `zoom`. */
export const zoomStep = (zoom: number): number => 2 ** (Math.floor(Math.log2(zoom) * 4) / 4);

/** Their node ids; where two cannot both be named, the one that comes first. @param zoom at it and at any larger one */
export function namedLoops(loops: readonly LoopCard[], zoom: number): ReadonlySet<string> {
  const cards = loops.map((loop) => cardBox(loop, zoom));
  const names: Box[] = [];
  const named = new Set<string>();
  for (const loop of loops.slice(0, CANDIDATES_MAX)) {
    const name = nameBox(loop, zoom);
    if ([...names, ...cards].some((other) => overlap(name, other))) continue;
    names.push(name);
    named.add(loop.node_id);
  }
  return named;
}

const cardBox = ({ at }: LoopCard, zoom: number): Box => ({
  left: at.x * zoom,
  right: (at.x + CARD.width) * zoom,
  top: at.y * zoom,
  bottom: (at.y + CARD.height) * zoom,
});

/** Right above its card, in the middle. */
function nameBox({ name, at }: LoopCard, zoom: number): Box {
  const middle = (at.x + CARD.width / 2) * zoom;
  const half = (name.length * CHAR_WIDTH_PX + NAME_PADDING_PX) / 2;
  const bottom = at.y * zoom;
  return { left: middle - half, right: middle + half, top: bottom - NAME_HEIGHT_PX, bottom };
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
