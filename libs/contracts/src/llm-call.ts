/** One LLM call that went through the proxy: what an operator sees of it, and what is kept. Never a prompt or a key. */
import { z } from 'zod';

export const DIALECTS = [
  'openai-chat',
  'openai-responses',
  'anthropic',
  'gemini',
  'gemini-interactions',
] as const;
export type DialectName = (typeof DIALECTS)[number];

/**
 * What became of a call. `forwarded`: the answer is the upstream's own, errors included. `refused`: no key, nothing that could be read, or no room. `not_allowed`: of a model, or of an unknown cost, that its agent's policy refuses. The rest never reached
 * it, except `aborted` (the client left), `cut_off` (its session was terminated, its agent stopped or its key revoked while the upstream was at work) and `upstream_failed` (no answer: connection, timeout, broken stream).
 */
export const CALL_DECISIONS = [
  'forwarded',
  'refused',
  'hinted',
  'cached',
  'killed',
  'inactive',
  'outside_hours',
  'not_allowed',
  'rate_limited',
  'over_budget',
  'session_capped',
  'hold_expired',
  'terminated',
  'aborted',
  'cut_off',
  'upstream_failed',
] as const;
export type CallDecision = (typeof CALL_DECISIONS)[number];
/** Why an agent's policy does not let it call. */
export type PolicyBar = Extract<CallDecision, 'killed' | 'inactive' | 'outside_hours'>;

/** Tokens as the vendor counted them, in one vocabulary. */
export const usageSchema = z.object({
  /** All input tokens, cached ones included. */
  input_tokens: z.number().int().nonnegative(),
  /** Of the input: read from the vendor's prompt cache. */
  cached_input_tokens: z.number().int().nonnegative(),
  /** Of the input: written to the vendor's prompt cache (Anthropic bills these higher). */
  cache_write_tokens: z.number().int().nonnegative(),
  /** Of these: to stay there for an hour, at OpenAI for twelve, which is billed higher still. Absent: none, or it did not say. */
  cache_write_hour_tokens: z.number().int().positive().optional(),
  /** All output tokens, reasoning included. */
  output_tokens: z.number().int().nonnegative(),
  /** Of the output: reasoning ("thinking") tokens. */
  reasoning_tokens: z.number().int().nonnegative(),
  /** Of the input and of the output what is sound, and of the output what is pictures: they have prices of their own. Absent: none. */
  audio_input_tokens: z.number().int().positive().optional(),
  audio_output_tokens: z.number().int().positive().optional(),
  image_output_tokens: z.number().int().positive().optional(),
  /** Web searches that the vendor ran while it answered, which it charges one by one. Absent: none, or it did not say. */
  search_count: z.number().int().positive().optional(),
  /** Of these: by OpenAI's preview tool, which has a price of its own. */
  search_preview_count: z.number().int().positive().optional(),
  /** Searches in stored files that OpenAI ran, charged one by one, too. */
  file_search_count: z.number().int().positive().optional(),
  /** USD, as the vendor says that it charged. Absent: it does not say. */
  charged_usd: z.number().nonnegative().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** In and out. */
export const tokensOf = ({ input_tokens, output_tokens }: Readonly<Usage>): number =>
  input_tokens + output_tokens;

/** One bar of a call's waterfall. */
const callStepSchema = z.object({
  /** Name of the pipeline step, such as `policy` or `forward`. */
  name: z.string(),
  /** Milliseconds after the call began. */
  start_ms: z.number(),
  duration_ms: z.number(),
  /** `passed`, or what the step decided or failed with. */
  outcome: z.string(),
});
export type CallStep = z.infer<typeof callStepSchema>;

const CACHE_MATCHES = ['exact', 'semantic'] as const;
export type CacheMatch = (typeof CACHE_MATCHES)[number];

/** How the cache answered a call. */
export const callCacheSchema = z.object({
  match: z.enum(CACHE_MATCHES),
  age_s: z.number(),
  /** Null for an exact match. */
  cosine: z.number().nullable(),
  /** Null: unknown, as the vendor told no charge and no price covers the call. */
  saved_usd: z.number().nullable(),
});
export type CallCache = z.infer<typeof callCacheSchema>;

export const llmCallSchema = z.object({
  call_id: z.string(),
  /** Ascends over all calls of the gateway; 0 until stored. */
  seq: z.number().int(),
  agent_id: z.string(),
  session_id: z.string(),
  /** Configured name: `openai`, `anthropic`, `gemini`, ... */
  upstream: z.string(),
  /** Null: a path we only pass through. */
  dialect: z.enum(DIALECTS).nullable(),
  method: z.string(),
  /** Below the upstream's base URL, without its query. */
  path: z.string(),
  model: z.string().nullable(),
  stream: z.boolean(),
  started_at_ms: z.number(),
  /** Until the last byte of the answer. */
  duration_ms: z.number(),
  /** Request received to first byte of the answer; null if none came. */
  first_byte_ms: z.number().nullable(),
  /** Time spent waiting for an operator. */
  held_ms: z.number(),
  /** HTTP status the client got; 499 when it left first. */
  status: z.number().int(),
  decision: z.enum(CALL_DECISIONS),
  /** One line for people; never holds text of the prompt or of the answer, of an error only its name (`rate_limit_exceeded`). */
  detail: z.string().nullable(),
  /** Null: the vendor reported none. */
  usage: usageSchema.nullable(),
  /**
   * Null: unknown, as the vendor tells no charge and no price covers the call. Of a fetched answer what was not counted when it was
   * asked for: less than 0 where too much was.
   */
  cost_usd: z.number().nullable(),
  tool_calls: z.array(z.object({ name: z.string(), arguments_hash: z.string() })),
  /** Null: the kill switch is off, or did not look. */
  kill_score: z.number().nullable(),
  /** Null: not answered from the cache. */
  cache: callCacheSchema.nullable().default(null),
  /** A client SDK's own retry of an earlier call. */
  is_retry: z.boolean(),
  trace_parent: z.string().nullable(),
  steps: z.array(callStepSchema),
});
export type LlmCall = z.infer<typeof llmCallSchema>;

/** A call that waits for an operator. */
export const heldCallSchema = z.object({
  call_id: z.string(),
  agent_id: z.string(),
  session_id: z.string(),
  model: z.string().nullable(),
  since_ms: z.number(),
});
export type HeldCall = z.infer<typeof heldCallSchema>;
