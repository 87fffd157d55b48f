/** One count of looping sessions for every place that shows one: the navigation, the tab's title, the alerts panel. */
import type { SemanticLoopEvent } from '#contracts';
import { groupSemanticLoops } from '../features/session-clusters/semantic-alerts';
import { type SessionsData, useTopic } from '../realtime';
import { useNow } from '../ui';
import { unattendedLoopCount } from './unattended-loops';

const MINUTE_MS = 60_000;
const NO_LOOPS: readonly SemanticLoopEvent[] = [];

/** 0 until the first snapshot. */
export function useLoopCount(): number {
  const { data: sessions } = useTopic('gateway:sessions');
  const { data: loops } = useTopic('gateway:semantic_loops');
  // Loops in words end by the clock, too: once a minute is close enough.
  const minute = useNow((nowMs) => Math.floor(nowMs / MINUTE_MS));
  return sessions ? countOnce(sessions, loops ?? NO_LOOPS, minute) : 0;
}

interface Counted {
  sessions: SessionsData;
  loops: readonly SemanticLoopEvent[];
  minute: number;
  count: number;
}

let counted: Counted | null = null;

/** Once per change, for all places together. */
function countOnce(sessions: SessionsData, loops: readonly SemanticLoopEvent[], minute: number): number {
  if (counted?.sessions === sessions && counted.loops === loops && counted.minute === minute)
    return counted.count;
  const count = unattendedLoopCount(sessions, groupSemanticLoops(loops), minute * MINUTE_MS);
  counted = { sessions, loops, minute, count };
  return count;
}
