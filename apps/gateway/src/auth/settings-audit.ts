/** Who changed which setting, as the audit keeps it: keys, policies, prices, upstreams, alerts. Details never hold a secret. */
import type { AuditDraft, DecisionStore, OperatorPrincipal, Role } from '#contracts';
import type { Clock } from '#kernel';

/** Who acts: an operator, or the gateway itself. */
export type Auditor = Pick<OperatorPrincipal, 'operator_id'> & { role: Role | 'system' };

export class SettingsAudit {
  constructor(
    private readonly store: Pick<DecisionStore, 'commitControl'>,
    private readonly clock: Clock,
  ) {}

  /** Durable when it settles. Rejects as the store does. */
  async record(...entry: Parameters<SettingsAudit['draft']>): Promise<void> {
    await this.store.commitControl({ audit: [this.draft(...entry)] });
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
      detail,
    };
  }
}
