/**
 * When people hear of something that lasts. Pure: a subject's state and the time in, a phase or nothing out.
 *
 *     quiet --(true)--> firing, untold --(not muted, not cooling)--> told --(every repeat)--> told again
 *                            |                                        |
 *                         (false)                                  (false)
 *                            v                                        v
 *                          quiet                          quiet, and `recovered` is said
 *
 * Cooldown counts from the last notice that something is wrong; a recovery is said at once, because it ends what was
 * said before, and never of something nobody was told. (Reactivating an agent ends its cooldown too: see the rules.) Muted, it fires silently; what still
 * lasts afterwards is said. A recovery is said also while muted: it wakes nobody, and closes what is open elsewhere.
 *
 * What somebody has in hand is not repeated for as long, at most `ACKNOWLEDGED_MS_MAX`; news of it and its end are told. Who heard of
 * it hears that, so that the others may go back to sleep, unless it is muted.
 *
 * News of what is told already (another session loops) are told as firing once more, at once where nothing is cooling; what comes
 * up meanwhile waits and is told in one notice.
 */
import { ACKNOWLEDGED_MS_MAX, type Acknowledgement } from '#contracts';

/** Between two notices of one firing that bring news, also without a cooldown: whoever wants each wants no flood. */
export const NEWS_GAP_MS = 30_000;

export interface NoticeTiming {
  cooldown_s: number;
  repeat_s: number | null;
  notify_recovery: boolean;
  muted_until_ms: number | null;
}

export interface SubjectState {
  /** Null while quiet. */
  sinceMs: number | null;
  /** Notices of this firing; 0 = nobody was told yet. */
  noticeCount: number;
  /** Of the latest firing or repeat notice, over all firings. */
  lastNoticeMs: number | null;
  /** Of this firing. */
  acknowledged: Acknowledgement | null;
}

export const QUIET: Readonly<SubjectState> = {
  sinceMs: null,
  noticeCount: 0,
  lastNoticeMs: null,
  acknowledged: null,
};

export interface NoticePlan {
  state: SubjectState;
  say: 'firing' | 'repeat' | 'recovered' | null;
}

export interface Reading {
  /** The rule's condition holds now. */
  holds: boolean;
  /** Something about it was never told. */
  isNews: boolean;
}

export function planNotice(
  before: Readonly<SubjectState>,
  { holds, isNews }: Reading,
  timing: NoticeTiming,
  nowMs: number,
): NoticePlan {
  const state = asOf(nowMs, before);
  if (!holds) {
    if (state.sinceMs === null) return { state, say: null };
    const isWorthSaying = timing.notify_recovery && state.noticeCount > 0;
    const quiet = { ...QUIET, lastNoticeMs: state.lastNoticeMs };
    return { state: quiet, say: isWorthSaying ? 'recovered' : null };
  }
  const firing = state.sinceMs === null ? { ...state, sinceMs: nowMs, noticeCount: 0 } : state;
  const sinceNoticeMs = firing.lastNoticeMs === null ? Number.POSITIVE_INFINITY : nowMs - firing.lastNoticeMs;
  const isCooling = sinceNoticeMs < timing.cooldown_s * 1_000;
  if (isMuted(timing, nowMs) || isCooling) return { state: firing, say: null };
  const told = { ...firing, noticeCount: firing.noticeCount + 1, lastNoticeMs: nowMs };
  if (firing.noticeCount === 0) return { state: told, say: 'firing' };
  // The first news of a firing is told at once; more of it may be a flood.
  if (isNews && (firing.noticeCount === 1 || sinceNoticeMs >= NEWS_GAP_MS))
    return { state: told, say: 'firing' };
  if (timing.repeat_s === null || sinceNoticeMs < timing.repeat_s * 1_000)
    return { state: firing, say: null };
  if (inHand(firing.acknowledged, nowMs) !== null) return { state: firing, say: null };
  return { state: told, say: 'repeat' };
}

export const isMuted = ({ muted_until_ms }: Pick<NoticeTiming, 'muted_until_ms'>, nowMs: number): boolean =>
  muted_until_ms !== null && nowMs < muted_until_ms;

/** As far as somebody still has it. */
export const inHand = (acknowledged: Acknowledgement | null, nowMs: number): Acknowledgement | null =>
  acknowledged !== null && nowMs - acknowledged.at_ms < ACKNOWLEDGED_MS_MAX ? acknowledged : null;

/**
 * What is of a time to come, a notice or an acknowledgement, was stamped before the clock was set back: it counts as one of now,
 * whether it still fires or not.
 */
export function asOf(nowMs: number, state: Readonly<SubjectState>): Readonly<SubjectState> {
  const { lastNoticeMs, acknowledged } = state;
  const isOfNow = (lastNoticeMs ?? nowMs) <= nowMs && (acknowledged?.at_ms ?? nowMs) <= nowMs;
  if (isOfNow) return state;
  return {
    ...state,
    lastNoticeMs: lastNoticeMs && Math.min(lastNoticeMs, nowMs),
    acknowledged: acknowledged && { ...acknowledged, at_ms: Math.min(acknowledged.at_ms, nowMs) },
  };
}

/** True when nothing would be lost by forgetting it. */
export const isForgettable = (state: Readonly<SubjectState>, cooldownS: number, nowMs: number): boolean =>
  state.sinceMs === null && (state.lastNoticeMs === null || nowMs - state.lastNoticeMs >= cooldownS * 1_000);
