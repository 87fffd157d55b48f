/**
 * Sends finished spans to an OpenTelemetry collector over OTLP/HTTP, a batch at a time. A collector that is slow or gone
 * costs spans, never a call: what finds no place is dropped and counted.
 *
 * Headers, compression, timeout and certificates are read by the exporter itself, from `OTEL_EXPORTER_OTLP_...`; what
 * names this process from `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`.
 */
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { FinishedSpan, SpanSink } from '#contracts';

export type OtlpProtocol = 'http/protobuf' | 'http/json';

/** Spans that wait for the collector, those on their way included; more are dropped. */
export const WAITING_SPANS_MAX = 8_192;
const BATCH_SPANS_MAX = 512;
const FLUSH_INTERVAL_MS = 1_000;

export type SpanEvent =
  | { kind: 'exported'; count: number }
  /** The collector refused them, or could not be reached. @property detail holds no address and no headers */
  | { kind: 'failed'; count: number; detail: string }
  /** No place to wait. */
  | { kind: 'dropped'; count: number };

export interface OtlpSpanSinkOptions {
  /** Of the collector, with its path. */
  url: string;
  protocol: OtlpProtocol;
  serviceName: string;
  serviceVersion: string;
  /** Must not throw. */
  onEvent: (event: SpanEvent) => void;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

export class OtlpSpanSink implements SpanSink {
  readonly #processor: BatchSpanProcessor;
  readonly #onEvent: (event: SpanEvent) => void;
  readonly #resource: Resource;
  readonly #scope: { name: string; version: string };
  #waitingCount = 0;

  constructor({ url, protocol, serviceName, serviceVersion, onEvent }: OtlpSpanSinkOptions) {
    this.#onEvent = onEvent;
    this.#scope = { name: serviceName, version: serviceVersion };
    this.#resource = defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': serviceVersion }))
      .merge(detectResources({ detectors: [envDetector] }));
    const exporter = protocol === 'http/json' ? new JsonExporter({ url }) : new ProtobufExporter({ url });
    this.#processor = new BatchSpanProcessor({
      exporter: this.#counting(exporter),
      maxQueueSize: WAITING_SPANS_MAX,
      maxExportBatchSize: BATCH_SPANS_MAX,
      scheduledDelayMillis: FLUSH_INTERVAL_MS,
    });
  }

  export(spans: readonly FinishedSpan[]): void {
    const room = WAITING_SPANS_MAX - this.#waitingCount;
    // All of a call or nothing of it: a part would look like another call.
    if (spans.length > room) {
      this.#onEvent({ kind: 'dropped', count: spans.length });
      return;
    }
    this.#waitingCount += spans.length;
    for (const span of spans) this.#processor.onEnd(this.#readable(span));
  }

  async close(): Promise<void> {
    await this.#processor.shutdown().catch(() => {});
  }

  #counting(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          const count = spans.length;
          this.#waitingCount -= count;
          if (result.error === undefined) this.#onEvent({ kind: 'exported', count });
          else this.#onEvent({ kind: 'failed', count, detail: detailOf(result.error) });
          done(result);
        }),
      shutdown: () => exporter.shutdown(),
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    };
  }

  #readable(span: FinishedSpan): ReadableSpan {
    const { traceId, spanId, parentSpanId, startMs, durationMs } = span;
    const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
    return {
      name: span.name,
      kind: KINDS[span.kind],
      spanContext: () => contextOf(spanId),
      ...(parentSpanId !== null && { parentSpanContext: contextOf(parentSpanId) }),
      startTime: hrTime(startMs),
      endTime: hrTime(startMs + durationMs),
      duration: hrTime(durationMs),
      ended: true,
      status:
        span.error === null
          ? { code: SpanStatusCode.UNSET }
          : { code: SpanStatusCode.ERROR, message: span.error },
      attributes: span.attributes as ReadableSpan['attributes'],
      links: [],
      events: [],
      resource: this.#resource,
      instrumentationScope: this.#scope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1_000) * 1e6))];
}

/** By its code where it has one: a message may quote what the collector answered. */
function detailOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return code === undefined ? error.name : `${error.name} (${String(code)})`;
}
