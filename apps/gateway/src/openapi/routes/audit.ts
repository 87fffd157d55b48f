import { auditExportQuery, auditQuery } from '../../hitl/audit.controller.js';
import type { Route } from '../route.js';
import { auditVerificationSchema, pages } from '../schemas.js';

export const AUDIT_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/audit',
    tag: 'Audit',
    summary: 'Read the audit',
    description: 'Newest first. Nothing in it is ever changed or deleted.',
    caller: 'observe',
    query: auditQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.audit } },
  },
  {
    method: 'get',
    path: '/v1/audit/export',
    tag: 'Audit',
    summary: 'Export the audit',
    description: 'All entries of the tenant, oldest first, one AuditEntry as JSON per line.',
    caller: 'observe',
    query: auditExportQuery,
    readsStore: true,
    answers: { 200: { description: 'JSON lines.', mediaType: 'application/x-ndjson' } },
  },
  {
    method: 'get',
    path: '/v1/audit/verify',
    tag: 'Audit',
    summary: 'Verify the audit',
    description: 'Recomputes the chain of hashes.',
    caller: 'observe',
    readsStore: true,
    answers: {
      200: {
        description: 'Whether the chain holds.',
        schema: auditVerificationSchema,
        example: { ok: true, entry_count: 128, broken_at_seq: null },
      },
    },
  },
];
