/** Counters and histograms of this process. No ids in labels, no prompts. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const METRIC_PREFIX = 'observatory_';

/** A registry with the process's own metrics: memory, event loop, garbage collection. */
export function createMetrics(): Registry {
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics, prefix: METRIC_PREFIX });
  return metrics;
}

/** Makes the metrics of one registry. Names without the prefix. */
export function metersOf(metrics: Registry) {
  const registers = [metrics];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name: METRIC_PREFIX + name, help, labelNames, registers }),
    gauge: (name: string, help: string) => new Gauge({ name: METRIC_PREFIX + name, help, registers }),
    histogram: <Label extends string>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: Label[]
    ) => new Histogram({ name: METRIC_PREFIX + name, help, buckets, labelNames, registers }),
  };
}

/** A number that is read when metrics are collected. @param name without the prefix */
export function addGauge(
  metrics: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
): void {
  new Gauge({
    name: METRIC_PREFIX + name,
    help,
    registers: [metrics],
    async collect() {
      this.set(await read());
    },
  });
}

/** The same for a count since the start that is kept elsewhere. */
export function addCounter(metrics: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name: METRIC_PREFIX + name,
    help,
    registers: [metrics],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Begins the series of these values at 0: an increase from nothing, such as the first failure, is none to Prometheus. */
export function beginAtZero<Label extends string>(
  counter: Counter<Label>,
  label: Label,
  values: readonly string[],
): void {
  for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0);
}
