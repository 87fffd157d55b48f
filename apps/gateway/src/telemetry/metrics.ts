/** Counters and histograms of this process. No ids in labels, no prompts. */
import { collectDefaultMetrics, Registry } from 'prom-client';

export const METRIC_PREFIX = 'observatory_';

/** A registry with the process's own metrics: memory, event loop, garbage collection. */
export function createMetrics(): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics, prefix: METRIC_PREFIX });
  return metrics;
}
