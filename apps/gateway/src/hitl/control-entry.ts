/**
 * What the desk keeps of one session: its durable row, and beside it what may be forgotten in a crash.
 * A directive moves through three places:
 *
 *     row.directives, seq > takenSeq    waits: in every ingest answer, poll and push
 *     informed                          an ingest answer carried it and another step came in since: no longer
 *                                       repeated there, but a poll with an older cursor still gets it,
 *                                       and so does the session's next LLM call
 *     gone                              confirmed by a poll's `after`, an acknowledgement or a model's answer
 */
import {
  type AgentControl,
  type ControlPollAnswer,
  type ControlRow,
  type ControlView,
  type Directive,
  type SessionKey,
  SYSTEM_OPERATOR,
} from '#contracts';
import { agentStateOf, holdsMessages, initialControl } from '#domain/hitl';
import type { Clock } from '#kernel';

/** Older ones are dropped: the agent has been told of them already. */
const INFORMED_COUNT_MAX = 100;

/** No release has taken all that was held. */
export const NOT_SWEPT = -1;

export interface ControlEntry {
  readonly key: SessionKey;
  /** As last committed, but for directives no start need know. Replaced as a whole, never changed in place. */
  row: ControlRow;
  /** False until the store was asked for this session: `row` is a guess then. */
  known: boolean;
  /** Released, but the gate stays closed until no held message is left. @see HeldGate */
  draining: boolean;
  /** How often `isHolding` said yes: each may be a held message on its way to the store. */
  holdAnswerCount: number;
  /** `holdAnswerCount` when the latest release was handed to the store; -1 to force another one. @see HeldGate */
  sweptAnswerCount: number;
  /** Held messages noted less those released. Below zero for a moment when a release overtakes the note. */
  heldBalance: number;
  /** Directives up to here count as taken, though the row may still list them. */
  takenSeq: number;
  /** Highest directive issued when the latest step came in, so in its answer; the next step makes it `takenSeq`. */
  offeredSeq: number;
  informed: Directive[];
  /** A write of what was taken is on its way. */
  pruneQueued: boolean;
  /** Who commands what may bring it under control, while that is being written: its place is taken. @see ControlRegistry */
  reservedFor: string | null;
  /** The rest of a release is on its way. */
  drainQueued: boolean;
  /** When the pause that ends at `atMs`, by the wall clock, is due by the one that nobody sets. @see pauseLeftMs */
  due: { atMs: number; steadyMs: number } | null;
}

export function newEntry(key: SessionKey, tenantId: string, sessionId: string): ControlEntry {
  return {
    key,
    row: initialControl(tenantId, sessionId),
    known: false,
    draining: false,
    holdAnswerCount: 0,
    sweptAnswerCount: NOT_SWEPT,
    heldBalance: 0,
    takenSeq: 0,
    offeredSeq: 0,
    informed: [],
    pruneQueued: false,
    reservedFor: null,
    drainQueued: false,
    due: null,
  };
}

export const isClosed = (entry: ControlEntry): boolean => entry.draining || holdsMessages(entry.row.state);

/** Ascending by seq. */
export const waiting = (entry: ControlEntry): Directive[] =>
  entry.row.directives.filter((directive) => directive.seq > entry.takenSeq);

/**
 * Until its pause expires; 0 or less: it is due; null: it never does. The wall clock tells once, when this process first asks: who
 * sets it afterwards neither ends the pause nor draws it out. One of a time to come, paused by a clock that was ahead, begins now.
 */
export function pauseLeftMs(entry: ControlEntry, clock: Clock): number | null {
  // Over already: its policy has not run.
  if (entry.row.state === 'expired') return 0;
  const { expires_at_ms: atMs, since_ms } = entry.row;
  if (atMs === null) return null;
  if (entry.due?.atMs !== atMs) {
    const fromMs = Math.max(clock.nowMs(), since_ms ?? 0);
    entry.due = { atMs, steadyMs: clock.steadyMs() + atMs - fromMs };
  }
  return entry.due.steadyMs - clock.steadyMs();
}

/**
 * Its pause expired, nobody came, and all that waits is word of that, which `state: active` says as well. Agents that
 * never come back would otherwise take one place under control after the other.
 */
export const hearsOnlyOfExpiry = (entry: ControlEntry): boolean =>
  entry.row.operator_id === SYSTEM_OPERATOR && pending(entry).every(({ type }) => type === 'resume');

/** The row with what its agent showed of itself while it was read or written. */
export const asShown = (row: ControlRow, { cooperative, proxied }: ControlRow): ControlRow => ({
  ...row,
  cooperative: row.cooperative || cooperative,
  proxied: row.proxied || proxied,
});

/** The row as it should be written: without what was taken meanwhile. */
export const prunedRow = (entry: ControlEntry): ControlRow => ({
  ...entry.row,
  directives: pending(entry),
});

/** What nobody has taken yet, neither the agent nor the model that it is for. Ascending by seq. */
export const pending = (entry: ControlEntry): Directive[] => [...unheard(entry), ...waiting(entry)];

/** Guidance for a model behind the proxy: an answer to its agent's steps is not the model's, and a start must find it. */
const unheard = ({ row, informed }: ControlEntry): Directive[] =>
  row.proxied ? informed.filter(({ type }) => type === 'inject') : [];

/** Guidance that counted as taken until its agent's first call showed that a model is to hear it. */
export const hasUnwritten = (entry: ControlEntry): boolean =>
  unheard(entry).some((directive) => !entry.row.directives.includes(directive));

export const controlView = (entry: ControlEntry): ControlView => ({
  state: entry.row.state,
  mode: entry.row.proxied ? 'enforced' : entry.row.cooperative ? 'cooperative' : 'observe_only',
  operator_id: entry.row.operator_id,
  reason: entry.row.reason,
  asked_by: entry.row.asked_by,
  since_ms: entry.row.since_ms,
  expires_at_ms: entry.row.expires_at_ms,
  held_count: Math.max(0, entry.heldBalance),
  pending_directive_count: pending(entry).length,
});

/**
 * The answer of a poll. Without `after`, or with one from another life of this session, all that waits; else what
 * came after it, including what an ingest answer carried meanwhile.
 */
export function pollAnswer(entry: ControlEntry, after?: number): ControlPollAnswer {
  const { directive_seq: cursor, session_id, state } = entry.row;
  const isCursorOurs = after !== undefined && after <= cursor;
  const directives = isCursorOurs
    ? [...entry.informed, ...waiting(entry)].filter((directive) => directive.seq > after)
    : waiting(entry);
  return { state: agentStateOf(state), directives, session_id, cursor };
}

export const agentControl = (entry: ControlEntry): AgentControl => ({
  state: agentStateOf(entry.row.state),
  directives: waiting(entry),
});

/** For an LLM call: what an ingest answer carried, its agent may never have read, and its model has not heard. */
export const callControl = (entry: ControlEntry): AgentControl => ({
  state: agentStateOf(entry.row.state),
  directives: [...entry.informed, ...waiting(entry)],
});

/** The agent has these for certain: nothing repeats them any more. */
export function confirmUpTo(entry: ControlEntry, seq: number): void {
  entry.takenSeq = Math.max(entry.takenSeq, seq);
  entry.informed = entry.informed.filter((directive) => directive.seq > seq);
}

/** The agent was told by an ingest answer and went on: gone from these answers, kept for a poll that is behind. */
export function informUpTo(entry: ControlEntry, seq: number): boolean {
  const told = waiting(entry).filter((directive) => directive.seq <= seq);
  if (told.length === 0) return false;
  entry.informed = [...entry.informed, ...told].slice(-INFORMED_COUNT_MAX);
  entry.takenSeq = Math.max(entry.takenSeq, seq);
  return true;
}
