/** `gateway:stats` as the columns that sparklines draw, and its latest values as people read them. */
import type { GatewayStats } from '#contracts';

export type StatKey = Exclude<keyof GatewayStats, 'at_ms'>;

export interface StatsSeries {
  /** Epoch seconds. */
  times: number[];
  column: (key: StatKey) => (number | null)[];
  latest: GatewayStats | undefined;
}

export function seriesOf(stats: readonly GatewayStats[]): StatsSeries {
  return {
    times: stats.map(({ at_ms }) => at_ms / 1_000),
    column: (key) => stats.map((second) => second[key]),
    latest: stats.at(-1),
  };
}

/** "0", "0.4", "12", "1,204": three digits at most before the comma, one after below ten. */
export function formatRate(perSecond: number): string {
  if (perSecond > 0 && perSecond < 9.95) return (Math.round(perSecond * 10) / 10).toString();
  return Math.round(perSecond).toLocaleString('en-US');
}

/** "0.4 ms", "12 ms", "1.2 s"; "–" without traffic. */
export function formatLatency(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 9.95 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
}
