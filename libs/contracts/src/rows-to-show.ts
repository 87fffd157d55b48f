/** Which sessions a list shows that has not room for all. Pure. */
import type { SessionView } from './session.js';

/** It loops, or somebody has it in hand: an operator must find it, however quiet it has become. */
const wantsSomebody = ({ ended, severity, control }: SessionView): boolean =>
  (severity === 'loop' && !ended) || (control.state !== 'active' && control.state !== 'terminated');

/**
 * In the order given. What wants somebody has room before the rest, and of both parts the first.
 *
 * @param views most recently active first
 */
export function rowsToShow(views: readonly SessionView[], countMax: number): SessionView[] {
  if (views.length <= countMax) return [...views];
  let urgentRoom = countMax;
  let room = Math.max(0, countMax - views.filter(wantsSomebody).length);
  return views.filter((view) => (wantsSomebody(view) ? urgentRoom-- > 0 : room-- > 0));
}
