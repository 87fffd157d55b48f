/** The sessions that loop now, for every place that shows one: navigation, tab title, alerts, list, Fleet, Inspect. */
import type { SemanticLoopEvent } from '#contracts';
import { MINUTE_MS } from '#kernel/duration';
import type { Policies } from '../features/session-clusters/rest';
import { groupSemanticLoops } from '../features/session-clusters/semantic-alerts';
import { usePolicies } from '../features/session-clusters/use-policies';
import { type SessionsData, useTopic } from '../realtime';
import { useNow } from '../ui';
import { type LoopsNow, loopsNow, NO_LOOPS_NOW } from './loops-now';

const NO_LOOPS: readonly SemanticLoopEvent[] = [];

/** None until the first snapshot. The same map as long as nothing changed that could change it. */
export function useLoopsNow(): LoopsNow {
  const { data: sessions } = useTopic('gateway:sessions');
  const { data: loops } = useTopic('gateway:semantic_loops');
  const policies = usePolicies();
  // Loops in words end by the clock, too: once a minute is close enough.
  const minute = useNow((nowMs) => Math.floor(nowMs / MINUTE_MS));
  return sessions ? findOnce(sessions, loops ?? NO_LOOPS, policies, minute) : NO_LOOPS_NOW;
}

/** 0 until the first snapshot. */
export const useLoopCount = (): number => useLoopsNow().size;

interface Found {
  sessions: SessionsData;
  loops: readonly SemanticLoopEvent[];
  policies: Policies;
  minute: number;
  now: LoopsNow;
}

let found: Found | null = null;

/** Once per change, for all places together. */
function findOnce(
  sessions: SessionsData,
  loops: readonly SemanticLoopEvent[],
  policies: Policies,
  minute: number,
): LoopsNow {
  if (
    found?.sessions === sessions &&
    found.loops === loops &&
    found.policies === policies &&
    found.minute === minute
  )
    return found.now;
  const now = loopsNow(sessions, groupSemanticLoops(loops), policies, minute * MINUTE_MS);
  found = { sessions, loops, policies, minute, now };
  return now;
}
