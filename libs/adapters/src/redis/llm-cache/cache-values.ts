/**
 * How an entry and a vector are written, and read by one who believes nothing: whatever is not exactly what this code
 * wrote under this name is refused. An entry is 64 hex digits, which bind it to its name, and then JSON.
 */
import { createHmac, hash } from 'node:crypto';
import { z } from 'zod';
import { type CacheEntry, type CacheVector, DIALECTS, usageSchema } from '#contracts';

const DIGEST_CHARS = 64;

const answerSchema = z.strictObject({
  dialect: z.enum(DIALECTS),
  answer_id: z.string().nullable(),
  model: z.string().nullable(),
  text: z.string(),
  tool_calls: z.array(z.strictObject({ id: z.string().nullable(), name: z.string(), arguments: z.string() })),
  finish: z.enum(['stop', 'tool_calls']),
  usage: usageSchema.nullable(),
});

const storedSchema = z.strictObject({
  version: z.literal(2),
  /** In which the answer was asked for. */
  epoch: z.string(),
  scope: z.string().nullable(),
  agent_id: z.string(),
  upstream: z.string(),
  prompt: z.string(),
  answer: answerSchema,
  created_at_ms: z.number(),
  cost_micro_usd: z.number().nullable(),
  duration_ms: z.number(),
  /** From the writing on. */
  lifetime_ms: z.number(),
  /** Of the vector that belongs to it. */
  vector_digest: z.string().nullable(),
});
export type StoredEntry = z.infer<typeof storedSchema>;

/** Signs with the secret of the gateways, if they have one; without it, it finds damage and mix-ups only. */
export class CacheValues {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** @param name of the entry in Redis */
  write(
    name: string,
    entry: CacheEntry,
    about: Pick<StoredEntry, 'epoch' | 'lifetime_ms' | 'vector_digest'>,
  ): string {
    const { tenant_id: _tenant, key: _key, vector: _vector, ...rest } = entry;
    const stored = { version: 2, ...rest, ...about };
    const json = JSON.stringify(stored);
    return this.#digest(name, json) + json;
  }

  /** Null for anything else than what was written under this name. */
  read(name: string, value: string): StoredEntry | null {
    const json = value.slice(DIGEST_CHARS);
    if (value.slice(0, DIGEST_CHARS) !== this.#digest(name, json)) return null;
    try {
      const parsed = storedSchema.safeParse(JSON.parse(json));
      return parsed.success ? parsed.data : null;
    } catch {
      return null;
    }
  }

  #digest(name: string, json: string): string {
    return createHmac('sha256', this.#secret).update(name).update('\0').update(json).digest('hex');
  }
}

export function toEntry(tenantId: string, key: string, stored: StoredEntry): CacheEntry {
  const { version: _version, epoch: _epoch, lifetime_ms: _life, vector_digest: _digest, ...rest } = stored;
  return { tenant_id: tenantId, key, ...rest, vector: null };
}

/** Float32, the least significant byte first. */
export const vectorBlob = ({ values }: CacheVector): Buffer =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength);

export const vectorDigest = (blob: Buffer): string => hash('sha256', blob).slice(0, 32);

/** Null unless it has as many numbers as it should. */
export function readVector(blob: Buffer, dimension: number): Float32Array | null {
  if (blob.byteLength !== 4 * dimension) return null;
  // A reply's bytes begin anywhere; numbers must not.
  const values = new Float32Array(dimension);
  Buffer.from(values.buffer).set(blob);
  return values;
}

/** What the index knows of an entry: its bytes, its epoch, and JSON. */
const metaSchema = z.tuple([
  z.string(),
  z.string(),
  z.string().nullable(),
  z.enum(DIALECTS),
  z.number(),
  z.number().nullable(),
  z.string().nullable(),
  z.boolean(),
]);

export interface EntryMeta {
  agent_id: string;
  upstream: string;
  model: string | null;
  dialect: CacheEntry['answer']['dialect'];
  created_at_ms: number;
  cost_micro_usd: number | null;
  scope_tag: string | null;
  has_vector: boolean;
  byte_count: number;
}

/** Of entries that were under way at no time. */
export const NO_EPOCH = '0';

/** @param epoch digits */
export const writeMeta = (meta: EntryMeta, epoch: string): string =>
  `${meta.byte_count} ${epoch} ${JSON.stringify([
    meta.agent_id,
    meta.upstream,
    meta.model,
    meta.dialect,
    meta.created_at_ms,
    meta.cost_micro_usd,
    meta.scope_tag,
    meta.has_vector,
  ])}`;

export function readMeta(text: string): EntryMeta | null {
  const [, bytes = '', json = ''] = /^(\d+) \d+ (.*)$/s.exec(text) ?? [];
  try {
    const parsed = metaSchema.safeParse(JSON.parse(json));
    if (!parsed.success) return null;
    const [agent, upstream, model, dialect, createdAtMs, cost, scopeTag, hasVector] = parsed.data;
    return {
      agent_id: agent,
      upstream,
      model,
      dialect,
      created_at_ms: createdAtMs,
      cost_micro_usd: cost,
      scope_tag: scopeTag,
      has_vector: hasVector,
      byte_count: Number(bytes),
    };
  } catch {
    return null;
  }
}
