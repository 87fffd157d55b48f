/**
 * Where prompts live in Redis. Ids are hashed: a tag or a key then holds hex digits alone, so there is nothing to
 * escape, no pattern to match and no separator to forge. Model and dimension are part of every name, so that vectors
 * of two models are never compared, and a sidecar with a new model starts with an index of its own.
 *
 *     <prefix><model>:<dimension>                             the index
 *     <prefix><model>:<dimension>:entry:{<scope>}:<request>   a hash for each prompt, and what the index covers
 *     <prefix><model>:<dimension>:order:{<scope>}             a sorted set: its last few, by arrival
 *
 * The braces are a hash tag: a cluster keeps a scope in one slot, so one script may touch all of it.
 */
import { createHash } from 'node:crypto';
import type { PromptScope } from '#contracts/embedding';

/** Of a model's id, for people; the digest beside it tells models apart. */
const SLUG_CHARS_MAX = 40;
const MODEL_DIGEST_CHARS = 12;

export interface PromptNames {
  index: string;
  entryPrefix: string;
  orderPrefix: string;
}

export interface ScopeKeys {
  tenantTag: string;
  /** Of tenant and session: a session's tag is its own in every tenant. */
  sessionTag: string;
  order: string;
  /** With the scope, up to the request. */
  entryPrefix: string;
}

/** @param prefix ends with what separates it, such as a colon; holds no braces */
export function promptNames(prefix: string, modelId: string, dimension: number): PromptNames {
  const slug = modelId
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .slice(0, SLUG_CHARS_MAX);
  const index = `${prefix}${slug}-${digest(modelId).slice(0, MODEL_DIGEST_CHARS)}:${dimension}`;
  return { index, entryPrefix: `${index}:entry:`, orderPrefix: `${index}:order:` };
}

export function scopeKeys(names: PromptNames, { tenant_id, session_id }: PromptScope): ScopeKeys {
  const sessionTag = digest(tenant_id, session_id);
  return {
    tenantTag: digest(tenant_id),
    sessionTag,
    order: `${names.orderPrefix}{${sessionTag}}`,
    entryPrefix: `${names.entryPrefix}{${sessionTag}}:`,
  };
}

export const requestDigest = (requestId: string): string => digest(requestId);

/** Of each part with its length, code unit by code unit: UTF-8 would make all lone surrogates one. 64 hex digits. */
function digest(...parts: string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part, 'utf16le');
  return hash.digest('hex');
}
