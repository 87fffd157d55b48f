/** Who changed which setting, as the audit keeps it: keys, policies, prices, upstreams, alerts. Details never hold a secret. */
import {
  type AuditDraft,
  type DecisionStore,
  ObservatoryError,
  type OperatorPrincipal,
  type Role,
} from '#contracts';
import type { Clock } from '#kernel';
import { codeToldOf } from '../errors/refusal.js';

/** Who acts: an operator, the gateway itself, or an operator of another one. */
export interface Auditor extends Pick<OperatorPrincipal, 'operator_id'> {
  role: Role | 'system';
  /** Of an operator of this gateway. */
  isInForce?(): boolean;
  /** Of the other gateway where it was commanded. */
  gateway_id?: string;
}

/** Arguments of `draft`. */
export type AuditLine = Parameters<SettingsAudit['draft']>;

export class SettingsAudit {
  constructor(
    private readonly store: Pick<DecisionStore, 'commitControl'>,
    private readonly clock: Clock,
  ) {}

  /** Durable when it settles. Rejects as `draft` throws, and as the store does. */
  async record(...line: AuditLine): Promise<void> {
    await this.#append(this.draft(...line));
  }

  /**
   * Does what the store cannot write together with its line: that it begins is durable before it does (outcome `begun`), what
   * came of it once this settles (`ok`, or the code that refused it). Rejects as `act` does, and as `record`: nothing has begun
   * where that refuses the first line.
   * @param found what the second line says beside the first, once it is known
   */
  async around<T>(
    line: AuditLine,
    act: () => Promise<T>,
    found: (result: T) => Record<string, unknown> = () => ({}),
  ): Promise<T> {
    const begun = { ...this.draft(...line), outcome: 'begun' };
    await this.#append(begun);
    const end = (outcome: string, more = {}) =>
      this.#append({ ...begun, at_ms: this.clock.nowMs(), outcome, detail: { ...begun.detail, ...more } });
    const result = await act().catch(async (error: unknown) => {
      await end(codeToldOf(error));
      throw error;
    });
    await end('ok', found(result));
    return result;
  }

  /**
   * Of now, for who writes it together with the change itself, when the turn of that has come.
   * @throws ObservatoryError unauthorized where whoever asked may no longer
   */
  draft(
    by: Auditor,
    tenantId: string,
    action: string,
    detail: Record<string, unknown>,
    states: { before: string; after: string } | null = null,
  ): AuditDraft {
    requireInForce(by);
    return {
      tenant_id: tenantId,
      at_ms: this.clock.nowMs(),
      operator_id: by.operator_id,
      role: by.role,
      action,
      session_id: null,
      before_state: states?.before ?? null,
      after_state: states?.after ?? null,
      outcome: 'ok',
      detail: whereCommanded(by, detail),
    };
  }

  async #append(draft: AuditDraft): Promise<void> {
    await this.store.commitControl({ audit: [draft] });
  }
}

/**
 * Nothing is changed without a line in the audit, so whoever has waited for its turn is asked here, where that is drafted: one
 * whose token is revoked, or whose login is over, would else go on changing for as long as it had sent ahead.
 *
 * @throws ObservatoryError unauthorized
 */
export function requireInForce(by: Auditor): void {
  if (by.isInForce?.() === false) throw new ObservatoryError('unauthorized');
}

/** The detail of an audit line, and the gateway of a command that was given at another one. */
export const whereCommanded = (
  { gateway_id }: Auditor,
  detail: Record<string, unknown>,
): Record<string, unknown> => (gateway_id === undefined ? detail : { ...detail, gateway_id });
