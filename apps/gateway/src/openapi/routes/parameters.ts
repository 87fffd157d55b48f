/** Parameters that many routes share, and the values their examples use. */
import { z } from 'zod';
import { LIMITS } from '#contracts';

const DEFAULT_PAGE_ROWS = 50;

export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.pageRowsMax)
    .default(DEFAULT_PAGE_ROWS)
    .describe('Rows in this page.'),
  cursor: z.string().optional().describe('The next_cursor of the page before.'),
});

export const sessionParams = z.object({
  session_id: z.string().min(1).max(LIMITS.idCharsMax).describe('As in the ingest answer; URL-encoded.'),
});

export const EXAMPLE = {
  sessionId: 'ses_9f3c',
  traceId: 'trace-0007',
  agentId: 'research-agent-1',
  operatorId: 'ada',
  atMs: 1_760_000_000_000,
} as const;
