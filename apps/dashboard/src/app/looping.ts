/** Sessions that loop and that nobody has stopped: what the sidebar counts and the tab's title shows. */
import { useMemo } from 'react';
import type { SessionView } from '#contracts';
import { useTopic } from '../realtime';

export const isUnattendedLoop = (session: SessionView): boolean =>
  session.severity === 'loop' && !session.ended && session.control.state === 'active';

/** 0 until the first snapshot. */
export function useLoopCount(): number {
  const { data } = useTopic('gateway:sessions');
  return useMemo(() => {
    let count = 0;
    for (const session of data?.values() ?? []) if (isUnattendedLoop(session)) count += 1;
    return count;
  }, [data]);
}
