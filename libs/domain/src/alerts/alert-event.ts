/** What the rules are told. Facts, each about one agent; nobody who tells one needs to know a rule. */
import type { BudgetPeriod, ExpiryAction, Severity } from '#contracts';

export interface BudgetSpend {
  period: BudgetPeriod;
  /** In the last hour, or in the calendar day or month in UTC. */
  spent_usd: number;
  budget_usd: number;
}

interface Fact {
  tenant_id: string;
  agent_id: string;
  session_id: string | null;
  /** Epoch ms; may lag behind the tick, never far. */
  at_ms: number;
}

/** What becomes of a session that waits for a person if nobody comes. */
export interface WaitEnd {
  /** Epoch ms; null: it waits for ever. */
  expires_at_ms: number | null;
  on_expiry: ExpiryAction;
}

export type AlertEvent =
  /** The kill switch stopped the agent. */
  | (Fact & { kind: 'incident'; incident_id: string; score: number; threshold: number })
  /** It may call again. */
  | (Fact & { kind: 'reactivated' })
  /** A proxied call begins; `call` follows. */
  | (Fact & { kind: 'call_began' })
  /** A proxied call ended. `terminated`: after its session was, which may be what ended it. */
  | (Fact & { kind: 'call'; failed: boolean; terminated?: boolean })
  /** A step was stored, with the label its session has now. `ended`: it was the session's last. */
  | (Fact & { kind: 'step'; severity: Severity; ended: boolean })
  /** A session's label changed without a step, or the session is over (then: `normal`). */
  | (Fact & { kind: 'severity'; severity: Severity })
  /** A session waits for a person its agent asked for, or no more: somebody came, or the wait is over. */
  | (Fact & { kind: 'person'; awaited: boolean } & WaitEnd)
  /** A session asked again, in other words or the same, what it had asked before; not the first time. */
  | (Fact & {
      kind: 'semantic_loop';
      similarity: number;
      threshold: number;
      /** Loops of this session so far. */
      occurrence: number;
      /** The policy paused the session. */
      paused: boolean;
    })
  /** What the agent has spent of each of its budgets, and which it has: none after the last one was taken away. */
  | (Fact & {
      kind: 'spend';
      budgets: readonly BudgetSpend[];
      /** The one whose rest did not cover what a call might cost; null: nothing was refused. */
      refused: BudgetPeriod | null;
    });
