/**
 * A recorded call as spans: one for the call, and under it one for each bar of its waterfall, so that a trace shows what
 * an agent waited for. Names and attributes follow OpenTelemetry's conventions for generative AI where there are some.
 * Nothing that was said is among them: no prompt, answer, argument or key.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
import type { FinishedSpan, LlmCall, SpanAttribute } from '#contracts';
import { isSampled, newSpanId, parseTraceParent } from '#kernel';
import type { ProxyCall } from '../proxy-call.js';
import { isError } from '../steps/record.step.js';
import type { UpstreamTarget } from '../upstreams/upstream-directory.js';

/** The bar that waits for the upstream. */
const FORWARD = 'forward';
/** Outcome of a step that broke, whether the call went on or not. */
const FAILED = 'failed';

/** Of one call. */
const TOOL_NAMES_MAX = 32;
const TOOL_NAME_CHARS_MAX = 128;

/** None for a call whose trace is not recorded, or that is in none. */
export function spansOf(call: ProxyCall, record: LlmCall): FinishedSpan[] {
  const place = parseTraceParent(record.trace_parent);
  if (place === null || !isSampled(place)) return [];
  const { traceId, spanId } = place;
  const error = isError(call) ? errorOf(record) : null;
  const asked = attributes({
    'server.address': new URL(call.upstream.origin).hostname,
    'server.port': portOf(call.upstream),
    'http.request.method': record.method,
    'http.response.status_code': record.status,
  });
  const steps = record.steps.map(
    (step): FinishedSpan => ({
      traceId,
      spanId: newSpanId(),
      parentSpanId: spanId,
      name: step.name,
      kind: step.name === FORWARD ? 'client' : 'internal',
      startMs: record.started_at_ms + step.start_ms,
      durationMs: step.duration_ms,
      attributes: { 'observatory.outcome': step.outcome, ...(step.name === FORWARD && asked) },
      error: step.outcome === FAILED ? FAILED : step.name === FORWARD ? error : null,
    }),
  );
  const whole: FinishedSpan = {
    traceId,
    spanId,
    parentSpanId: call.parentSpanId,
    name: nameOf(record),
    kind: 'server',
    startMs: record.started_at_ms,
    durationMs: record.duration_ms,
    attributes: callAttributes(call, record, error),
    error,
  };
  return [whole, ...steps];
}

const errorOf = ({ decision, status }: LlmCall): string =>
  decision === 'upstream_failed' ? decision : String(status);

function callAttributes(call: ProxyCall, record: LlmCall, error: string | null) {
  const { usage } = record;
  return attributes({
    'gen_ai.operation.name': operationOf(record),
    'gen_ai.provider.name': providerOf(call.upstream),
    'gen_ai.request.model': record.model,
    'gen_ai.request.max_tokens': call.summary?.output_tokens_max ?? null,
    'gen_ai.conversation.id': record.session_id || null,
    'gen_ai.agent.id': record.agent_id,
    'gen_ai.usage.input_tokens': usage?.input_tokens ?? null,
    'gen_ai.usage.output_tokens': usage?.output_tokens ?? null,
    'gen_ai.usage.cache_read.input_tokens': usage?.cached_input_tokens ?? null,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cache_write_tokens ?? null,
    'http.response.status_code': record.status,
    'error.type': error,
    'observatory.tenant.id': call.tenantId,
    'observatory.call.id': record.call_id,
    'observatory.upstream': record.upstream,
    'observatory.decision': record.decision,
    'observatory.cost_usd': record.cost_usd,
    'observatory.held_ms': record.held_ms,
    'observatory.first_byte_ms': record.first_byte_ms,
    'observatory.kill_score': record.kill_score,
    'observatory.cache.match': record.cache?.match ?? null,
    'observatory.is_retry': record.is_retry,
    'observatory.tool_calls': toolNamesOf(record),
  });
}

/** As the upstream wrote them, so cut: thousands of spans may wait for the collector. Null: none was called. */
function toolNamesOf({ tool_calls }: LlmCall): string[] | null {
  if (tool_calls.length === 0) return null;
  return tool_calls.slice(0, TOOL_NAMES_MAX).map(({ name }) => name.slice(0, TOOL_NAME_CHARS_MAX));
}

/** Without those that nobody knows. */
function attributes(all: Record<string, SpanAttribute | null>): Record<string, SpanAttribute> {
  const known = Object.entries(all).filter((entry): entry is [string, SpanAttribute] => entry[1] !== null);
  return Object.fromEntries(known);
}

/** Few and alike: no id is part of a name. */
function nameOf(record: LlmCall): string {
  const operation = operationOf(record);
  if (operation === null) return `${record.method} ${record.upstream}`;
  return record.model === null ? operation : `${operation} ${record.model}`;
}

/** Null for a path of which nobody knows what it does. */
function operationOf({ dialect, path }: LlmCall): string | null {
  if (dialect === 'gemini') return 'generate_content';
  if (dialect !== null) return 'chat';
  if (path.endsWith('/embeddings')) return 'embeddings';
  return path.endsWith('/completions') ? 'text_completion' : null;
}

/** An upstream that only speaks OpenAI's language is known by its own name. */
const providerOf = ({ kind, name }: UpstreamTarget): string =>
  kind === 'gemini' ? 'gcp.gemini' : kind === 'anthropic' ? 'anthropic' : name;

function portOf({ origin }: UpstreamTarget): number {
  const { port, protocol } = new URL(origin);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
