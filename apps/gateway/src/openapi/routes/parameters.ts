/** Parameters and an answer that many routes share, and the values their examples use. */
import { z } from 'zod';
import { LIMITS } from '#contracts';
import type { Answer } from '../route.js';
import { okSchema } from '../schemas.js';

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

export const ok = (description = 'Done.'): Answer => ({
  description,
  schema: okSchema,
  example: { status: 'ok' },
});
