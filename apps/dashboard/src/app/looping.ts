/** Sessions that loop and that nobody has stopped: what the sidebar counts and the tab's title shows. */
import type { SessionView } from '#contracts';
import { type SessionsData, useTopic } from '../realtime';

export const isUnattendedLoop = (session: SessionView): boolean =>
  session.severity === 'loop' && !session.ended && session.control.state === 'active';

/** 0 until the first snapshot. */
export function useLoopCount(): number {
  const { data } = useTopic('gateway:sessions');
  return data ? countLoops(data) : 0;
}

let counted: { data: SessionsData; count: number } | null = null;

/** Counted once per change, for every place that shows it. */
function countLoops(data: SessionsData): number {
  if (counted?.data === data) return counted.count;
  let count = 0;
  for (const session of data.values()) if (isUnattendedLoop(session)) count += 1;
  counted = { data, count };
  return count;
}
