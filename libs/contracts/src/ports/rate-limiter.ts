/**
 * Counts what agents use against limits: requests, tokens and money in one structure. One call is one atomic
 * decision, over all its windows at once: either every window takes its amount, or none does.
 */

export interface LimitWindow {
  /** Names the counter; holds the tenant. Windows with equal keys share a counter. */
  key: string;
  /** Most that may be used within a window. */
  limit: number;
  /** Taken now. Larger than `limit`: refused though nothing else is used. */
  amount: number;
  windowMs: number;
  /**
   * `sliding`: the last `windowMs`, approximated by two buckets, the older one weighted by how much of it still
   * overlaps. `calendar`: from `startMs`, a bucket of its own that starts at zero.
   */
  kind: 'sliding' | 'calendar';
  /** Start of the calendar window, epoch ms; unused when sliding. */
  startMs?: number;
}

export interface WindowState {
  key: string;
  limit: number;
  /** After this decision, rounded up. */
  used: number;
  /** Until the window has room again for one; 0 when it has. Until it is empty when it was refused for more. */
  resetMs: number;
}

export interface LimitDecision {
  allowed: boolean;
  /** In the order asked. */
  windows: WindowState[];
  /** Index of the window that refused; null when allowed. */
  refusedBy: number | null;
  /** How long until the refusing window would allow it; 0 when allowed, null when never (amount > limit). */
  retryAfterMs: number | null;
}

export interface RateLimiter {
  /** Rejects only when its store cannot be reached: the caller decides what that means. */
  take(windows: readonly LimitWindow[]): Promise<LimitDecision>;
  /** Corrects a taken amount by `amount` (negative: a refund), in the bucket of now; never below zero. */
  correct(windows: readonly Omit<LimitWindow, 'limit'>[]): Promise<void>;
  /** Reads without taking: states in the order asked. */
  look(windows: readonly Omit<LimitWindow, 'amount'>[]): Promise<WindowState[]>;
}
