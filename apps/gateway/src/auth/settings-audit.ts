/** Who changed which setting, as the audit keeps it: keys, policies, prices, upstreams, alerts. Details never hold a secret. */
import {
  type AuditDraft,
  type DecisionStore,
  ObservatoryError,
  type OperatorPrincipal,
  type Role,
} from '#contracts';
import type { Clock } from '#kernel';

/** Who acts: an operator, or the gateway itself. */
export interface Auditor extends Pick<OperatorPrincipal, 'operator_id'> {
  role: Role | 'system';
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

  /** Durable when it settles. Rejects as the store does. */
  record(...line: AuditLine): Promise<void> {
    return this.#append(line, 'ok');
  }

  /**
   * Does what the store cannot write together with its line: that it begins is durable before it does (outcome `begun`), what
   * came of it once this settles (`ok`, or the code that refused it). Rejects as `act` does, and as the store does: nothing has
   * begun where it refuses the first line.
   * @param found what the second line says beside the first, once it is known
   */
  async around<T>(
    line: AuditLine,
    act: () => Promise<T>,
    found: (result: T) => Record<string, unknown> = () => ({}),
  ): Promise<T> {
    const [by, tenantId, action, detail] = line;
    await this.#append(line, 'begun');
    const result = await act().catch(async (error: unknown) => {
      await this.#append(line, error instanceof ObservatoryError ? error.code : 'internal_error');
      throw error;
    });
    await this.#append([by, tenantId, action, { ...detail, ...found(result) }], 'ok');
    return result;
  }

  /** Of now, for who writes it together with the change itself. */
  draft(
    by: Auditor,
    tenantId: string,
    action: string,
    detail: Record<string, unknown>,
    states: { before: string; after: string } | null = null,
  ): AuditDraft {
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

  async #append(line: AuditLine, outcome: string): Promise<void> {
    await this.store.commitControl({ audit: [{ ...this.draft(...line), outcome }] });
  }
}

/** The detail of an audit line, and the gateway of a command that was given at another one. */
export const whereCommanded = (
  { gateway_id }: Auditor,
  detail: Record<string, unknown>,
): Record<string, unknown> => (gateway_id === undefined ? detail : { ...detail, gateway_id });
