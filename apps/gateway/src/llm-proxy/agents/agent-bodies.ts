import { z } from 'zod';

/** `POST /v1/agents/{id}/deactivate` */
export const deactivateBodySchema = z.strictObject({ reason: z.string().trim().min(1).max(500) });
