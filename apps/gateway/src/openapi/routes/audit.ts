import { z } from 'zod';
import { LIMITS } from '#contracts';
import type { Route } from '../route.js';
import { auditVerificationSchema, pages } from '../schemas.js';
import { pageQuery } from './parameters.js';

const ofSession = z.object({
  session_id: z
    .string()
    .min(1)
    .max(LIMITS.idCharsMax)
    .optional()
    .describe('Only what concerned one session.'),
});

export const AUDIT_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/audit',
    tag: 'Audit',
    summary: 'Read the audit',
    description: 'Newest first. Nothing in it is ever changed or deleted.',
    caller: 'observe',
    query: z.object({ ...ofSession.shape, ...pageQuery.shape }),
    answers: { 200: { description: 'One page.', schema: pages.audit } },
  },
  {
    method: 'get',
    path: '/v1/audit/export',
    tag: 'Audit',
    summary: 'Export the audit',
    description: 'All entries of the tenant, oldest first, one AuditEntry as JSON per line.',
    caller: 'observe',
    query: ofSession,
    answers: { 200: { description: 'JSON lines.', mediaType: 'application/x-ndjson' } },
  },
  {
    method: 'get',
    path: '/v1/audit/verify',
    tag: 'Audit',
    summary: 'Verify the audit',
    description: 'Recomputes the chain of hashes.',
    caller: 'observe',
    answers: {
      200: {
        description: 'Whether the chain holds.',
        schema: auditVerificationSchema,
        example: { ok: true, entry_count: 128, broken_at_seq: null },
      },
    },
  },
];
