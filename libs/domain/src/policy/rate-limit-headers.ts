/** What an agent is told of its limits, in the headers that clients of LLM vendors know. */
import type { LimitDecision } from '#contracts';
import type { LimitName, NamedWindow } from './limit-windows.js';

/** Header names, whole: they are written on each call. */
interface Names {
  limit: string;
  remaining: string;
  reset: string;
}

const namesWith = (ending: string): Names => ({
  limit: `x-ratelimit-limit${ending}`,
  remaining: `x-ratelimit-remaining${ending}`,
  reset: `x-ratelimit-reset${ending}`,
});

const PLAIN = namesWith('');
const NAMES: Partial<Record<LimitName, Names>> = {
  requests_per_minute: namesWith('-requests'),
  tokens_per_minute: namesWith('-tokens'),
};

/**
 * `x-ratelimit-limit-requests`, `-remaining-requests`, `-reset-requests`, the same for tokens, and once without an
 * ending: for the window that refused, else for requests, else for tokens. Resets and `retry-after` are whole seconds
 * from now, rounded up. Budgets are not told in figures: an agent need not know what it may cost. Empty without
 * limits, so the vendor's own headers pass through then.
 * @param windows as they were taken, in the order of the decision
 */
export function rateLimitHeaders(
  windows: readonly NamedWindow[],
  decision: LimitDecision,
): Record<string, string> {
  const headers: Record<string, string> = {};
  let plainOf: number | null = null;
  for (let index = 0; index < windows.length; index += 1) {
    const names = NAMES[(windows[index] as NamedWindow).name];
    if (names === undefined) continue;
    write(headers, names, decision, index);
    if (plainOf === null || decision.refusedBy === index) plainOf = index;
  }
  if (plainOf !== null) write(headers, PLAIN, decision, plainOf);
  if (!decision.allowed && decision.retryAfterMs !== null)
    headers['retry-after'] = seconds(Math.max(1, decision.retryAfterMs));
  return headers;
}

function write(
  headers: Record<string, string>,
  { limit, remaining, reset }: Names,
  { windows }: LimitDecision,
  index: number,
): void {
  const state = windows[index];
  if (state === undefined) return;
  headers[limit] = String(state.limit);
  headers[remaining] = String(Math.max(0, state.limit - state.used));
  headers[reset] = seconds(state.resetMs);
}

const seconds = (ms: number): string => String(Math.ceil(ms / 1_000));
