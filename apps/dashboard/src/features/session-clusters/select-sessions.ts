/** Which sessions the list shows, and in which order. Pure. */
import { isStoppedState, LIMITS, type SessionView } from '#contracts';
import { type LoopsNow, NO_LOOPS_NOW } from '../../app/loops-now';
import { waitsForPerson } from '../hitl-console/control-texts';
import type { ControlFilter, ListSearch, Sort } from './list-search';
import { NO_POLICIES, type Policies, restOf, stoppedAgentOf } from './rest';

/** A person has it in hand. */
const isStopped = ({ control }: SessionView): boolean => isStoppedState(control.state);

/**
 * Live sessions of which the list has no row, by the gateway's own count; 0 while it has room. That count is some moments
 * older or younger than the rows.
 */
export function countLeftOut(sessions: ReadonlyMap<string, SessionView>, liveCount: number): number {
  if (sessions.size < LIMITS.listedSessionsMax) return 0;
  let listedCount = 0;
  for (const { ended } of sessions.values()) if (!ended) listedCount += 1;
  return Math.max(0, liveCount - listedCount);
}

/** Case-insensitive over session id, agent, last intent and last tool, as `GET /v1/sessions?q=`. */
function matchesText(session: SessionView, needle: string): boolean {
  return (
    session.session_id.toLowerCase().includes(needle) ||
    session.agent_id.toLowerCase().includes(needle) ||
    session.last_intent.toLowerCase().includes(needle) ||
    session.last_tool.toLowerCase().includes(needle)
  );
}

function matchesControl(session: SessionView, filter: ControlFilter, policies: Policies): boolean {
  if (filter === 'active') return isRunning(session, policies);
  if (filter === 'paused') return isStopped(session);
  if (filter === 'waiting') return waitsForPerson(session.control);
  if (filter === 'terminated') return session.control.state === filter;
  return session.control.mode === filter;
}

/** As its own page calls it. */
const isRunning = (session: SessionView, policies: Policies): boolean =>
  session.control.state === 'active' && !session.ended && stoppedAgentOf(session, policies) === null;

/** Sessions that pass every filter of the address, unordered. */
export function filterSessions(
  sessions: Iterable<SessionView>,
  search: ListSearch,
  policies: Policies = NO_POLICIES,
): SessionView[] {
  const needle = search.q?.trim().toLowerCase() ?? '';
  const found: SessionView[] = [];
  for (const session of sessions) {
    if (search.severity && session.severity !== search.severity) continue;
    if (search.agent && session.agent_id !== search.agent) continue;
    if (search.ended && session.ended !== (search.ended === 'ended')) continue;
    if (search.control && !matchesControl(session, search.control, policies)) continue;
    if (needle && !matchesText(session, needle)) continue;
    found.push(session);
  }
  return found;
}

/** 0 loops now, 1 waits for a person, 2 stopped or silent in its loop, 3 repeats itself, 4 normal, 5 ended. */
function urgency(session: SessionView, policies: Policies, loops: LoopsNow): number {
  if (loops.has(session.session_id)) return 0;
  // Its last step may be what a person is to allow.
  if (waitsForPerson(session.control)) return 1;
  if (session.ended) return 5;
  if (loopRests(session, policies)) return 2;
  if (session.severity === 'loop') return 0;
  return session.severity === 'warning' ? 3 : 4;
}

/** A killed agent's session without a loop is as urgent as any other without one. */
const loopRests = (session: SessionView, policies: Policies): boolean =>
  session.severity === 'loop' ? restOf(session, policies) !== null : isStopped(session);

const measures: Record<Sort, (session: SessionView, policies: Policies, loops: LoopsNow) => number> = {
  severity: (session, policies, loops) => -urgency(session, policies, loops),
  last_seen: (session) => session.last_seen_ms,
  started: (session) => session.started_ms,
  // Of what is silent it is the rate of its last minute, which is over.
  steps_per_minute: ({ state, ended, steps_per_minute }) =>
    ended || state === 'idle' ? 0 : steps_per_minute,
  cost: (session) => session.cost_usd,
};

/**
 * Ids, largest measure first. Ties fall to the later start, then the id: neither changes while a session lives, so
 * that equal rows never trade places.
 */
export function orderSessions(
  sessions: readonly SessionView[],
  sort: Sort = 'severity',
  policies: Policies = NO_POLICIES,
  loops: LoopsNow = NO_LOOPS_NOW,
): string[] {
  const measure = measures[sort];
  // Measured once each: the comparison runs some hundred thousand times for ten thousand rows.
  return sessions
    .map((session) => ({
      id: session.session_id,
      size: measure(session, policies, loops),
      startedMs: session.started_ms,
    }))
    .sort((a, b) => b.size - a.size || b.startedMs - a.startedMs || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}

/** The earlier array when both hold the same ids in the same order, so that nothing below has to be done again. */
export function keepIfEqual(before: readonly string[], now: readonly string[]): readonly string[] {
  return before.length === now.length && before.every((id, index) => id === now[index]) ? before : now;
}
