/** One count of looping sessions for every place that shows one: the navigation, the tab's title, the alerts panel. */
import type { SemanticLoopEvent } from '#contracts';
import { NO_POLICIES, type Policies } from '../features/session-clusters/rest';
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
  const { data: agents } = useTopic('gateway:agents');
  // Loops in words end by the clock, too: once a minute is close enough.
  const minute = useNow((nowMs) => Math.floor(nowMs / MINUTE_MS));
  return sessions ? countOnce(sessions, loops ?? NO_LOOPS, agents ?? NO_POLICIES, minute) : 0;
}

interface Counted {
  sessions: SessionsData;
  loops: readonly SemanticLoopEvent[];
  agents: Policies;
  minute: number;
  count: number;
}

let counted: Counted | null = null;

/** Once per change, for all places together. */
function countOnce(
  sessions: SessionsData,
  loops: readonly SemanticLoopEvent[],
  agents: Policies,
  minute: number,
): number {
  if (
    counted?.sessions === sessions &&
    counted.loops === loops &&
    counted.agents === agents &&
    counted.minute === minute
  )
    return counted.count;
  const count = unattendedLoopCount(sessions, groupSemanticLoops(loops), agents, minute * MINUTE_MS);
  counted = { sessions, loops, agents, minute, count };
  return count;
}
