import { displayPrefix, hashSecret } from '#domain/auth';

/** What the row of an agent key or operator token says beside whose it is. */
export const newCredential = (secret: string, createdBy: string, nowMs: number) => ({
  prefix: displayPrefix(secret),
  created_at_ms: nowMs,
  created_by: createdBy,
  last_used_at_ms: null,
  revoked_at_ms: null,
  secret_hash: hashSecret(secret),
});
