/**
 * One topic's state and the pure steps between states.
 *
 *     waiting --snapshot--> live --frames--> live --connection lost--> live (old data) --deltas | reset--> live
 *        '------error-----> refused --asked again, where that may help--> live
 */
import type { Frame, LiveEvent, SubscribeAck } from '#contracts';
import type { TopicMerge } from './topic-merge';

export interface TopicState<Data = unknown> {
  phase: 'waiting' | 'live' | 'refused';
  /** Last sequence number merged into `data`; null before the first snapshot. */
  seq: number | null;
  /** Null until the first snapshot; kept through a lost connection. */
  data: Data | null;
  /** Events merged since the page opened: what a frozen view counts. */
  mergedCount: number;
  /** How often `data` began from a snapshot; after a reset it may no longer meet what was read beside it. */
  startCount: number;
  /** Why the gateway refused the subscription. */
  refusal: { reason: string; detail: string } | null;
}

export const WAITING: TopicState<never> = {
  phase: 'waiting',
  seq: null,
  data: null,
  mergedCount: 0,
  startCount: 0,
  refusal: null,
};

type Merge = TopicMerge<unknown, unknown, unknown>;

/** A snapshot and a reset replace, deltas continue, an error keeps what was there. */
export function applyAck(merge: Merge, state: TopicState, ack: SubscribeAck): TopicState {
  if (ack.status === 'error') {
    return { ...state, phase: 'refused', refusal: { reason: ack.reason, detail: ack.detail } };
  }
  if (ack.kind === 'deltas') {
    const merged = applyEvents(merge, state, ack.events);
    return { ...merged, phase: merged.data === null ? 'waiting' : 'live', refusal: null, seq: ack.seq };
  }
  return {
    phase: 'live',
    seq: ack.seq,
    data: merge.start(ack.snapshot),
    mergedCount: state.mergedCount + 1,
    startCount: state.startCount + 1,
    refusal: null,
  };
}

/** Merges what is newer than `state.seq`, each once: frames may overlap. Returns the same state when nothing is. */
export function applyEvents(merge: Merge, state: TopicState, events: readonly LiveEvent[]): TopicState {
  if (state.data === null || state.seq === null) return state;
  const fresh: LiveEvent[] = [];
  for (const event of events) if (event.seq > (fresh.at(-1)?.seq ?? state.seq)) fresh.push(event);
  const last = fresh.at(-1);
  if (!last) return state;
  return {
    ...state,
    seq: last.seq,
    data: merge.apply(
      state.data,
      fresh.map((event) => event.payload),
    ),
    mergedCount: state.mergedCount + fresh.length,
  };
}

/** What to do with a frame, given the last sequence number received: `gap` means frames are missing before it. */
export function judgeFrame(lastSeq: number, frame: Frame): 'take' | 'known' | 'gap' {
  if (frame.to_seq <= lastSeq) return 'known';
  return frame.from_seq <= lastSeq + 1 ? 'take' : 'gap';
}
