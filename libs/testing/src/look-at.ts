import type { LimitWindow, RateLimiter, WindowState } from '#contracts';

/** What a limiter has counted, by a take of nothing. @returns states in the order asked */
export const lookAt = async (
  limiter: RateLimiter,
  windows: readonly Omit<LimitWindow, 'amount'>[],
): Promise<WindowState[]> =>
  (await limiter.take(windows.map((window) => ({ ...window, amount: 0 })))).windows;
