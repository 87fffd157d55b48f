/** Where the time of a call went, laid out as bars. Pure. */
import type { LlmCall } from '#contracts';

/** Narrower bars could not be seen. */
export const BAR_PERCENT_MIN = 0.6;

export interface WaterfallBar {
  name: string;
  outcome: string;
  durationMs: number;
  startMs: number;
  /** Of the whole, 0..100. */
  leftPercent: number;
  widthPercent: number;
}

export interface Waterfall {
  totalMs: number;
  bars: WaterfallBar[];
  /** Where the first byte of the answer left; null when none did. */
  firstBytePercent: number | null;
}

/** A step that ends after the call (a record written behind the answer) makes the whole longer. */
export function layWaterfall(call: Pick<LlmCall, 'steps' | 'duration_ms' | 'first_byte_ms'>): Waterfall {
  const ends = call.steps.map(({ start_ms, duration_ms }) => start_ms + duration_ms);
  const totalMs = Math.max(call.duration_ms, ...ends, 0.001);
  const percent = (ms: number) => Math.min(100, Math.max(0, (ms / totalMs) * 100));
  const bars = call.steps.map(({ name, outcome, start_ms, duration_ms }) => {
    const widthPercent = Math.max(BAR_PERCENT_MIN, percent(duration_ms));
    return {
      name,
      outcome,
      startMs: start_ms,
      durationMs: duration_ms,
      widthPercent,
      leftPercent: Math.min(percent(start_ms), 100 - widthPercent),
    };
  });
  return {
    totalMs,
    bars,
    firstBytePercent: call.first_byte_ms === null ? null : percent(call.first_byte_ms),
  };
}

/** "0.04 ms", "3.1 ms", "840 ms", "3.2 s": steps of a pipeline are shorter than most things people time. */
export function formatStepMs(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
