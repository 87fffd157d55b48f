/** The LLM cache: what is kept of an answer, what an operator sees of it, and the bodies of its API. */
import { z } from 'zod';
import { DIALECTS, type DialectName, type Usage } from './llm-call.js';
import type { LlmToolCall } from './llm-content.js';

export const CACHE_BACKENDS = ['auto', 'redis', 'memory', 'off'] as const;
export type CacheBackend = (typeof CACHE_BACKENDS)[number];

/** `shadow`: a would-be semantic hit is compared with the real answer and reported, never served. */
export const CACHE_SEMANTIC_MODES = ['off', 'shadow', 'on'] as const;
export type CacheSemanticMode = (typeof CACHE_SEMANTIC_MODES)[number];

/** Per agent. */
export const CACHE_POLICIES = ['on', 'exact_only', 'off'] as const;
export type CachePolicy = (typeof CACHE_POLICIES)[number];
export const CACHE_POLICY_DEFAULT: CachePolicy = 'on';

/** `x-observatory-cache` on a request. `only`: answer from the cache or with 504, never from the upstream. */
export const CACHE_CONTROLS = ['bypass', 'refresh', 'only'] as const;
export type CacheControl = (typeof CACHE_CONTROLS)[number];

/**
 * An answer that a replay can give back without loss: text and tool calls are all there is of it. Only whole answers
 * that ended by themselves (`stop`, `tool_calls`) become one.
 */
export interface CachedAnswer {
  /** Of the call that filled it. */
  dialect: DialectName;
  /** The vendor's id of the answer: later calls may name it (`previous_response_id`). */
  answer_id: string | null;
  model: string | null;
  text: string;
  tool_calls: LlmToolCall[];
  finish: 'stop' | 'tool_calls';
  usage: Usage | null;
}

/** Why two texts must not share an answer, however near their vectors. */
export const TEXT_VETOES = [
  'numbers',
  'dates',
  'negation',
  'quotes',
  'code',
  'entities',
  /** Strict gate: one content word differs, or a preposition, duty or tense between the same words. */
  'one_word',
  /** Strict gate: the same words in another order. */
  'word_order',
  /** Strict gate: other capitals within a word, or a pause between two words of only one text. */
  'spelling',
] as const;
export type TextVeto = (typeof TEXT_VETOES)[number];

/** Why an answer was not kept. Each is a label of a metric. */
export const NOT_STORED_REASONS = [
  /** The vendor sent an error. */
  'failed',
  /** It never ended: the vendor broke off, or the client left. */
  'unfinished',
  /** Cut off at a limit on its length. */
  'length',
  'filtered',
  /** Ended in a way that we don't know, or that asks for more. */
  'other_finish',
  /** It holds more than text and tool calls, or something of it was not read. */
  'lossy',
  /** Neither text nor tool call. A vendor's hiccup ends so, too, and who asks again wants another. */
  'empty',
  /** The call does more than answer (a conversation kept at the vendor), or answers from what may change there. */
  'stateful',
  /** The model was told more than the caller said. */
  'hinted',
  /** Answers of the tenant were thrown out while it was under way. */
  'outdated',
  /** Over its share of the cache's bytes. */
  'too_large',
  /** Redis, or a node of its cluster, did not take it. */
  'backend_away',
  /** Its key or its time is none. */
  'unusable',
] as const;
export type NotStoredReason = (typeof NOT_STORED_REASONS)[number];

const count = z.number().int().nonnegative();

/** `GET /v1/cache/stats`: this tenant, since the start of this gateway; entries and bytes are of now. */
export const cacheStatsSchema = z.object({
  backend: z.enum(['memory', 'redis', 'off']),
  /** Redis, or a node of its cluster, does not answer: what lies there is a miss. */
  is_degraded: z.boolean(),
  semantic_mode: z.enum(CACHE_SEMANTIC_MODES),
  embedding_model: z.string().nullable(),
  hit_when_cosine_at_least: z.number().nullable(),
  total_entries: count,
  total_bytes: count,
  total_hits: count,
  total_misses: count,
  exact_hits: count,
  semantic_hits: count,
  /** Would-be semantic hits, and how the real answer compared. */
  shadow_hits: count,
  shadow_agreed: count,
  shadow_differed: count,
  /** Semantic matches an operator marked. */
  marked_right: count,
  marked_wrong: count,
  /**
   * Wrong among the semantic matches whose truth is known: marked wrong or differed, over all marked or compared.
   * Null while none is.
   */
  wrong_hit_rate: z.number().nullable(),
  /** Candidates above the threshold that were refused, by reason. */
  vetoes: z.partialRecord(z.enum(TEXT_VETOES), count),
  /** Callers that waited for an equal call and shared its answer. */
  coalesced: count,
  not_stored: z.partialRecord(z.enum(NOT_STORED_REASONS), count),
  /** Known costs only. */
  saved_usd: z.number(),
  /** Hits on answers of unknown cost, which `saved_usd` leaves out. */
  unpriced_hit_count: z.number().int(),
  saved_ms: z.number(),
  lookup_p50_ms: z.number().nullable(),
  lookup_p99_ms: z.number().nullable(),
});
export type CacheStats = z.infer<typeof cacheStatsSchema>;

/** `GET /v1/cache/entries`: no text of a prompt or of an answer. */
export const cacheEntryViewSchema = z.object({
  key: z.string(),
  agent_id: z.string(),
  upstream: z.string(),
  model: z.string().nullable(),
  dialect: z.enum(DIALECTS),
  created_at_ms: z.number(),
  last_hit_at_ms: z.number().nullable(),
  hit_count: count,
  byte_count: count,
  has_vector: z.boolean(),
  /** What one hit saves; null: the model has no price. */
  cost_usd: z.number().nullable(),
});
export type CacheEntryView = z.infer<typeof cacheEntryViewSchema>;

/** `GET /v1/cache/matches`: the latest semantic matches, newest first. */
export const semanticMatchSchema = z.object({
  match_id: z.string(),
  at_ms: z.number(),
  agent_id: z.string(),
  model: z.string().nullable(),
  call_id: z.string(),
  key: z.string(),
  cosine: z.number(),
  /** The question asked now, and the one whose answer was or would have been served. Redacted, cut at 1,000 characters. */
  prompt: z.string(),
  matched_prompt: z.string(),
  served: z.boolean(),
  /** Shadow mode: whether the real answer said the same. Null: served, or nobody can tell, as where the real one was cut off. */
  agreed: z.boolean().nullable(),
  verdict: z.enum(['right', 'wrong']).nullable(),
  verdict_by: z.string().nullable(),
});
export type SemanticMatch = z.infer<typeof semanticMatchSchema>;

/**
 * `POST /v1/cache/invalidate`. A glob (`*` and `?`) over an entry's names: its key, `agent:<id>`, `model:<name>`,
 * `upstream:<name>`. Absent: everything of this tenant.
 */
export const cacheInvalidateSchema = z.strictObject({
  pattern: z.string().trim().min(1).max(200).optional(),
  /** Counts, and removes nothing. */
  preview: z.boolean().default(false),
});
export type CacheInvalidate = z.infer<typeof cacheInvalidateSchema>;

/** `POST /v1/cache/matches/{id}/verdict`: `wrong` also evicts the entry, and the two questions match no more. */
export const cacheVerdictSchema = z.strictObject({ verdict: z.enum(['right', 'wrong']) });
