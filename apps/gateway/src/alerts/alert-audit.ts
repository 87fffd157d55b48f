/** Who changed what about alerts, as the audit keeps it. Details never hold a secret or a URL. */
import type { AuditDraft, DecisionStore, OperatorPrincipal } from '#contracts';
import type { Clock } from '#kernel';

export class AlertAudit {
  constructor(
    private readonly store: Pick<DecisionStore, 'commitControl'>,
    private readonly clock: Clock,
  ) {}

  /** Durable when it settles. */
  async record(by: OperatorPrincipal, action: string, detail: Record<string, unknown>): Promise<void> {
    const draft: AuditDraft = {
      tenant_id: by.tenant_id,
      at_ms: this.clock.nowMs(),
      operator_id: by.operator_id,
      role: by.role,
      action,
      session_id: null,
      before_state: null,
      after_state: null,
      outcome: 'ok',
      detail,
    };
    await this.store.commitControl({ audit: [draft] });
  }
}
