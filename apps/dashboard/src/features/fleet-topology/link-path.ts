/** The curve of a link between two cards: from edge to edge, bent to its right so that a pair of opposite links stays apart. */
import { CARD, type Point } from './fleet-layout';

export interface LinkPath {
  /** SVG path data. */
  readonly path: string;
  /** Middle of the curve, for its label. */
  readonly label: Point;
}

const BEND = 0.14;
const BEND_PX_MAX = 60;
/** Room for the arrow head. */
const GAP_PX = 3;

/** @param from top left corner of the card it leaves; `to` likewise. The two differ. */
export function linkPath(from: Point, to: Point): LinkPath {
  const start = centreOf(from);
  const end = centreOf(to);
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const bend = Math.min(BEND_PX_MAX, length * BEND);
  const control = {
    x: (start.x + end.x) / 2 - ((end.y - start.y) / length) * bend,
    y: (start.y + end.y) / 2 + ((end.x - start.x) / length) * bend,
  };
  const a = leave(start, control);
  const b = leave(end, control);
  return {
    path: `M${round(a.x)},${round(a.y)} Q${round(control.x)},${round(control.y)} ${round(b.x)},${round(b.y)}`,
    label: { x: round((a.x + 2 * control.x + b.x) / 4), y: round((a.y + 2 * control.y + b.y) / 4) },
  };
}

const centreOf = ({ x, y }: Point): Point => ({ x: x + CARD.width / 2, y: y + CARD.height / 2 });

/** Where the line from a card's centre towards `target` crosses the card's border, a little outside. */
function leave(centre: Point, target: Point): Point {
  const dx = target.x - centre.x;
  const dy = target.y - centre.y;
  const scale = Math.min(
    (CARD.width / 2 + GAP_PX) / Math.max(Math.abs(dx), 1e-6),
    (CARD.height / 2 + GAP_PX) / Math.max(Math.abs(dy), 1e-6),
  );
  return { x: centre.x + dx * scale, y: centre.y + dy * scale };
}

const round = (value: number): number => Math.round(value * 10) / 10;
