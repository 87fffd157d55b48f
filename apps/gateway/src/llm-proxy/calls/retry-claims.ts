/**
 * Whether a call is its client SDK's own retry, as it says: then it is no new step, and no guard counts it. SDKs number
 * their attempts, so the same number again and again is no SDK at work; a header must not be a way around every guard.
 */
import { type SessionKey, tenantIdOf } from '#contracts';
import { type Clock, FairLru } from '#kernel';

/** SDKs try twice more unless told otherwise; who tries this often counts as asking again. */
const ATTEMPT_MAX = 32;
/** Sessions whose latest call was a retry, over all tenants; the one that has most gives way. */
const SESSION_COUNT_MAX = 20_000;
/** No SDK waits longer between two attempts. */
const SESSION_IDLE_MS = 10 * 60_000;

export class RetryClaims {
  readonly #attempts: FairLru<SessionKey, number>;

  constructor(clock: Clock) {
    this.#attempts = new FairLru({ countMax: SESSION_COUNT_MAX, idleMs: SESSION_IDLE_MS, clock });
  }

  /** Asked once for each call. @param attempt as its header says; 0: the first, and what every other client sends */
  isRetry(session: SessionKey, attempt: number): boolean {
    const tenantId = tenantIdOf(session);
    const earlier = this.#attempts.peek(tenantId, session) ?? 0;
    if (attempt === 0) {
      if (earlier > 0) this.#attempts.delete(tenantId, session);
      return false;
    }
    this.#attempts.set(tenantId, session, attempt);
    return attempt > earlier && attempt <= ATTEMPT_MAX;
  }
}
