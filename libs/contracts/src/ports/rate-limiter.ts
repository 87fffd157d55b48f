/**
 * Counts what agents use against limits: requests, tokens and money in one structure. One call is one atomic
 * decision, over all its windows at once: either every window takes its amount, or none does.
 *
 * Amounts and limits are whole numbers (tokens, requests, micro-USD) up to 2^53; others throw a RangeError.
 */

export interface LimitWindow {
  /**
   * Names the counter; begins with the tenant, which its first NUL ends. Windows with equal keys share a counter, and a key has one kind and length.
   * What stands before its last NUL is the owner: a shared store keeps an owner's counters together, and one call
   * asks for one owner's.
   */
  key: string;
  /** Most that may be used within a window. */
  limit: number;
  /** Taken now. Larger than `limit`: refused though nothing else is used. */
  amount: number;
  /** Of a sliding window: at most 24 hours. */
  windowMs: number;
  /**
   * `sliding`: the last `windowMs`, in slots of a 60th of it: what was taken counts whole until the end of its slot is `windowMs` old,
   * so that no `windowMs`, wherever it begins, has more than the limit. `calendar`: from `startMs`, a bucket of its own that starts at zero.
   */
  kind: 'sliding' | 'calendar';
  /** Start of the calendar window, epoch ms; unused when sliding. */
  startMs?: number;
}

/** What `correct` and `seed` change: one slot or bucket of a counter, and with a seed the slots of a whole window. */
export interface BucketChange extends Omit<LimitWindow, 'limit'> {
  /** Sliding: any time within the slot, or the window of a seed, which begins at a multiple of its length; absent: now. By the limiter's clock (`LimitDecision.atMs`), or the caller's where that is told. */
  takenAtMs?: number;
}

export interface WindowState {
  key: string;
  limit: number;
  /** After this decision. */
  used: number;
  /** Until the window has room again for one; 0 when it has. Until it is empty when it was refused for more. */
  resetMs: number;
}

export interface LimitDecision {
  allowed: boolean;
  /** By the limiter's clock, which need not be the caller's. */
  atMs: number;
  /** In the order asked. */
  windows: WindowState[];
  /**
   * Where it is allowed: in which windows this gateway had taken nothing before, as far as the limiter knows; a shared store may
   * have lost it. A correction alone, or a take of nothing, is no take here. In the order asked.
   */
  begun: boolean[];
  /** Index of the window that refused, and of several the one that refuses longest; null when allowed. */
  refusedBy: number | null;
  /**
   * How long until the refusing window would allow it, if nothing else happens; 0 when allowed, null when never (amount > limit). Of a
   * sliding one at most its length and a slot, unless a clock was set back.
   */
  retryAfterMs: number | null;
}

export interface RateLimiter {
  /**
   * Rejects only when its store cannot be reached: the caller decides what that means.
   * @param nowMs by the caller's clock, which `startMs` is of: a calendar window lasts until that one has come to its end
   */
  take(windows: readonly LimitWindow[], nowMs?: number): Promise<LimitDecision>;
  /**
   * Adds `amount` (negative: a refund) to the slot or bucket it was taken from, never below zero. One that no window
   * counts any more stays as it is.
   * @param nowMs by the caller's clock, where `takenAtMs` is of that
   */
  correct(changes: readonly BucketChange[], nowMs?: number): Promise<void>;
  /**
   * Raises what this gateway has taken to at least `amount`: restores from stored sums what a restart forgot, and may be repeated. What
   * was spent of a sliding window counts as spent evenly.
   * @param nowMs by the caller's clock, which `takenAtMs` is of; the limiter's need not be the same
   */
  seed(changes: readonly BucketChange[], nowMs: number): Promise<void>;
}
