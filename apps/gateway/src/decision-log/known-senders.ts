/**
 * Who sent a head that was read before: a client's connection sends the same one again and again, and to hash its key each time
 * takes as long as to parse its DecisionLog.
 */
import type { AgentPrincipal } from '#contracts';
import type { SteadyClock } from '#kernel';
import type { PlainHead } from '../fast-lane/plain-head.js';

/** Then the key is looked up anew, which notes that it is in use. */
const KNOWN_MS = 1_000;

export interface KnownSendersParts {
  authenticate: (
    authorization: string | undefined,
    observatoryKey: string | undefined,
  ) => AgentPrincipal | null;
  /** False once the principal's key is revoked. Asked each time. */
  isInForce: (principal: AgentPrincipal) => boolean;
  clock: SteadyClock;
}

export class KnownSenders {
  readonly #parts: KnownSendersParts;
  readonly #known = new WeakMap<PlainHead, { principal: AgentPrincipal; untilMs: number }>();

  constructor(parts: KnownSendersParts) {
    this.#parts = parts;
  }

  /** @param head the very object that came before, where it is the same head */
  of(head: PlainHead): AgentPrincipal | null {
    const { authenticate, isInForce, clock } = this.#parts;
    const nowMs = clock.steadyMs();
    const known = this.#known.get(head);
    if (known !== undefined && nowMs < known.untilMs && isInForce(known.principal)) return known.principal;
    const principal = authenticate(head.authorization, head.observatoryKey);
    if (principal !== null) this.#known.set(head, { principal, untilMs: nowMs + KNOWN_MS });
    return principal;
  }
}
