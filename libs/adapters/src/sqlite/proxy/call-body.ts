/**
 * What of a call stands in no column of its own, as one JSON array whose order never changes. Without the names a call
 * takes half the room, and half the time of the event loop, which is where it is written. A new field goes to the
 * end; older rows then lack it.
 */
import type { CacheMatch, CallCache, CallStep, LlmCall, Usage } from '#contracts';
import type { CALL_COLUMNS } from './proxy-protocol.js';

export type CallBody = Omit<LlmCall, (typeof CALL_COLUMNS)[number] | 'seq'>;

type Encoded = [
  upstream: LlmCall['upstream'],
  dialect: LlmCall['dialect'],
  method: LlmCall['method'],
  path: LlmCall['path'],
  stream: 0 | 1,
  durationMs: number,
  firstByteMs: number | null,
  heldMs: number,
  status: number,
  detail: LlmCall['detail'],
  usage:
    | [
        input: number,
        cachedInput: number,
        cacheWrite: number,
        output: number,
        reasoning: number,
        /**
         * Searches in the web, of these by the preview tool, in files; writes to the cache for an hour; sound in and out, pictures; USD
         * charged, FREE for none: up to the last that there is.
         */
        ...rarer: number[],
      ]
    | null,
  costUsd: LlmCall['cost_usd'],
  /** Name and hash in turns. */
  toolCalls: string[],
  killScore: LlmCall['kill_score'],
  isRetry: 0 | 1,
  traceParent: LlmCall['trace_parent'],
  /** Name, start, duration and outcome in turns. */
  steps: (string | number)[],
  /** Not there for calls that went on. */
  cache?: [match: CacheMatch, ageS: number, cosine: number | null, savedUsd: number | null],
];

/** Durations are kept to the microsecond. */
export function encodeBody(call: CallBody): string {
  const { usage } = call;
  const toolCalls: string[] = [];
  for (const { name, arguments_hash } of call.tool_calls) toolCalls.push(name, arguments_hash);
  const steps: (string | number)[] = [];
  for (const { name, start_ms, duration_ms, outcome } of call.steps) {
    steps.push(name, toMicroseconds(start_ms), toMicroseconds(duration_ms), outcome);
  }
  const encoded: Encoded = [
    call.upstream,
    call.dialect,
    call.method,
    call.path,
    call.stream ? 1 : 0,
    toMicroseconds(call.duration_ms),
    call.first_byte_ms === null ? null : toMicroseconds(call.first_byte_ms),
    toMicroseconds(call.held_ms),
    call.status,
    call.detail,
    usage === null
      ? null
      : [
          usage.input_tokens,
          usage.cached_input_tokens,
          usage.cache_write_tokens,
          usage.output_tokens,
          usage.reasoning_tokens,
          ...rarerCountsOf(usage),
        ],
    call.cost_usd,
    toolCalls,
    call.kill_score,
    call.is_retry ? 1 : 0,
    call.trace_parent,
    steps,
  ];
  const { cache } = call;
  if (cache !== null) encoded.push([cache.match, cache.age_s, cache.cosine, cache.saved_usd]);
  return JSON.stringify(encoded);
}

export function decodeBody(body: string): CallBody {
  const encoded: Encoded = JSON.parse(body);
  const [upstream, dialect, method, path, stream, duration_ms, first_byte_ms, held_ms, status, detail] =
    encoded;
  const [, , , , , , , , , , usage, cost_usd, toolCalls, kill_score, isRetry, trace_parent, steps, cache] =
    encoded;
  return {
    upstream,
    dialect,
    method,
    path,
    stream: stream === 1,
    duration_ms,
    first_byte_ms,
    held_ms,
    status,
    detail,
    usage: usage && toUsage(usage),
    cost_usd,
    tool_calls: inTurns(toolCalls, 2, (at) => ({
      name: toolCalls[at] as string,
      arguments_hash: toolCalls[at + 1] as string,
    })),
    kill_score,
    cache: cache === undefined ? null : toCache(cache),
    is_retry: isRetry === 1,
    trace_parent,
    steps: inTurns(
      steps,
      4,
      (at): CallStep => ({
        name: steps[at] as string,
        start_ms: steps[at + 1] as number,
        duration_ms: steps[at + 2] as number,
        outcome: steps[at + 3] as string,
      }),
    ),
  };
}

/** Told to have cost nothing, which is not the same as no word of it. */
const FREE = -1;

/** What most calls have none of: only as many as it takes. */
function rarerCountsOf(usage: Usage): number[] {
  const counts = [
    usage.search_count ?? 0,
    usage.search_preview_count ?? 0,
    usage.file_search_count ?? 0,
    usage.cache_write_hour_tokens ?? 0,
    usage.audio_input_tokens ?? 0,
    usage.audio_output_tokens ?? 0,
    usage.image_output_tokens ?? 0,
    usage.charged_usd === 0 ? FREE : (usage.charged_usd ?? 0),
  ];
  return counts.slice(0, counts.findLastIndex((count) => count !== 0) + 1);
}

const toUsage = ([
  input,
  cachedInput,
  cacheWrite,
  output,
  reasoning,
  searches = 0,
  previews = 0,
  fileSearches = 0,
  cacheWriteHour = 0,
  audioInput = 0,
  audioOutput = 0,
  imageOutput = 0,
  charged = 0,
]: NonNullable<Encoded[10]>): Usage => ({
  input_tokens: input,
  cached_input_tokens: cachedInput,
  cache_write_tokens: cacheWrite,
  ...(cacheWriteHour > 0 && { cache_write_hour_tokens: cacheWriteHour }),
  output_tokens: output,
  reasoning_tokens: reasoning,
  ...(audioInput > 0 && { audio_input_tokens: audioInput }),
  ...(audioOutput > 0 && { audio_output_tokens: audioOutput }),
  ...(imageOutput > 0 && { image_output_tokens: imageOutput }),
  ...(searches > 0 && { search_count: searches }),
  ...(previews > 0 && { search_preview_count: previews }),
  ...(fileSearches > 0 && { file_search_count: fileSearches }),
  ...(charged !== 0 && { charged_usd: Math.max(0, charged) }),
});

const toCache = ([match, age_s, cosine, saved_usd]: NonNullable<Encoded[17]>): CallCache => ({
  match,
  age_s,
  cosine,
  saved_usd,
});

const toMicroseconds = (ms: number): number => Math.round(ms * 1_000) / 1_000;

const inTurns = <T>(values: readonly unknown[], width: number, toItem: (at: number) => T): T[] =>
  Array.from({ length: values.length / width }, (_, index) => toItem(index * width));
