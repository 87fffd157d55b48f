/** What becomes of spans, each event once: counter, and a log line where a streak of failures begins or ends. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { SpanEvent } from '#adapters/otel';
import { metersOf } from './metrics.js';

export function spanTelemetry(logger: Logger, registry: Registry): (event: SpanEvent) => void {
  const spans = metersOf(registry).counter(
    'spans_total',
    'Spans for the trace collector, by what became of them: exported, failed or dropped.',
    'outcome',
  );
  let isFailing = false;
  return (event) => {
    spans.inc({ outcome: event.kind }, event.count);
    if (event.kind === 'exported' && isFailing) {
      isFailing = false;
      logger.info({ event: 'spans_accepted' }, 'the trace collector takes spans again');
    } else if (event.kind === 'failed' && !isFailing) {
      isFailing = true;
      logger.warn(
        { event: 'spans_refused', detail: event.detail },
        'the trace collector takes no spans; they are lost until it does, and counted',
      );
    }
  };
}
