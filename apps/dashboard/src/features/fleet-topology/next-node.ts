/** Arrow keys on the map: the nearest agent in that direction. */
import type { Point } from './fleet-layout';

export const ARROWS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
} as const;
export type Arrow = keyof typeof ARROWS;

export const isArrow = (key: string): key is Arrow => key in ARROWS;

/** Sideways distance weighs more, so that rows and columns are followed. */
const SIDEWAYS_WEIGHT = 3;

/** The node to go to from `nodeId`, or null at the rim. */
export function nextNode(points: ReadonlyMap<string, Point>, nodeId: string, arrow: Arrow): string | null {
  const from = points.get(nodeId);
  if (!from) return points.keys().next().value ?? null;
  const direction = ARROWS[arrow];
  let best: string | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const [id, point] of points) {
    const dx = point.x - from.x;
    const dy = point.y - from.y;
    const ahead = dx * direction.x + dy * direction.y;
    if (ahead <= 0) continue;
    const sideways = Math.abs(dx * direction.y) + Math.abs(dy * direction.x);
    const cost = ahead + sideways * SIDEWAYS_WEIGHT;
    if (cost < bestCost) {
      best = id;
      bestCost = cost;
    }
  }
  return best;
}
