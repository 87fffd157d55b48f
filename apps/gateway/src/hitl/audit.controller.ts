/** Who did what to which session, as recorded: to read, to take away, to check for tampering. */
import { Controller, Get, Inject, Query, StreamableFile } from '@nestjs/common';
import { z } from 'zod';
import {
  type AuditEntry,
  type AuditVerification,
  type DecisionStore,
  LIMITS,
  type OperatorPrincipal,
  type Page,
} from '#contracts';
import type { Clock } from '#kernel';
import { Principal, Requires } from '../auth/access.js';
import { parseFields } from '../errors/field-errors.js';
import { pageQuery } from '../page-query.js';
import { CLOCK, STORE } from '../tokens.js';
import { exportAudit } from './audit-export.js';

export const auditExportQuery = z.object({
  session_id: z
    .string()
    .min(1)
    .max(LIMITS.idCharsMax)
    .optional()
    .describe('Only what concerned one session.'),
});
export const auditQuery = auditExportQuery.extend(pageQuery.shape);

@Controller('v1/audit')
export class AuditController {
  constructor(
    @Inject(STORE) private readonly store: Pick<DecisionStore, 'audit' | 'verifyAudit'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Newest first. */
  @Get()
  @Requires('observe')
  list(@Principal() { tenant_id }: OperatorPrincipal, @Query() query: unknown): Promise<Page<AuditEntry>> {
    return this.store.audit({ tenant_id, ...parseFields(auditQuery, query) });
  }

  /** The whole chain, or one session's entries, as JSON lines. */
  @Get('export')
  @Requires('observe')
  async export(@Principal() operator: OperatorPrincipal, @Query() query: unknown): Promise<StreamableFile> {
    const { tenant_id } = operator;
    const asked = { tenant_id, ...parseFields(auditExportQuery, query) };
    const lines = await exportAudit(this.store, asked, () => operator.isInForce());
    const day = new Date(this.clock.nowMs()).toISOString().slice(0, 10);
    return new StreamableFile(lines, {
      type: 'application/x-ndjson',
      disposition: `attachment; filename="observatory-audit-${tenant_id}-${day}.jsonl"`,
    });
  }

  /** Recomputes the hash chain of this tenant from its first entry. */
  @Get('verify')
  @Requires('observe')
  verify(@Principal() { tenant_id }: OperatorPrincipal): Promise<AuditVerification> {
    return this.store.verifyAudit(tenant_id);
  }
}
