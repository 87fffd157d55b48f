/** How an attempt to send went. Reasons are shown to people: no secrets, no paths, no text of the other side. */
export type SendOutcome =
  | {
      ok: true;
      /** Whom it did not reach; absent: nobody. */
      shortfall?: string;
    }
  | {
      ok: false;
      /** False: trying again without a change would fail again. */
      retryable: boolean;
      reason: string;
      /** What the receiver asked for; null when it did not. */
      retryAfterMs: number | null;
    };

export const sendFailed = (
  reason: string,
  { retryable, retryAfterMs = null }: { retryable: boolean; retryAfterMs?: number | null },
): SendOutcome => ({ ok: false, retryable, reason, retryAfterMs });
