import { describe, expect, it } from 'vitest';
import { BAR_PERCENT_MIN, formatStepMs, layWaterfall } from './waterfall';

const step = (name: string, start_ms: number, duration_ms: number) => ({
  name,
  start_ms,
  duration_ms,
  outcome: 'passed',
});

describe('layWaterfall', () => {
  it('places each step within the whole call', () => {
    const { bars, totalMs, firstBytePercent } = layWaterfall({
      duration_ms: 200,
      first_byte_ms: 50,
      steps: [step('policy', 0, 20), step('forward', 20, 180)],
    });
    expect(totalMs).toBe(200);
    expect(firstBytePercent).toBe(25);
    expect(bars).toMatchObject([
      { leftPercent: 0, widthPercent: 10 },
      { leftPercent: 10, widthPercent: 90 },
    ]);
  });

  it('keeps a step visible that took no time, inside the frame', () => {
    const [bar] = layWaterfall({
      duration_ms: 100,
      first_byte_ms: null,
      steps: [step('record', 100, 0)],
    }).bars;
    expect(bar).toMatchObject({ widthPercent: BAR_PERCENT_MIN, leftPercent: 100 - BAR_PERCENT_MIN });
  });

  it('stretches to a step that outlives the answer, and bears a call without any time', () => {
    expect(layWaterfall({ duration_ms: 10, first_byte_ms: 1, steps: [step('record', 10, 30)] }).totalMs).toBe(
      40,
    );
    expect(layWaterfall({ duration_ms: 0, first_byte_ms: null, steps: [] }).bars).toEqual([]);
  });
});

describe('formatStepMs', () => {
  it('keeps what matters at each size', () => {
    expect([0.042, 3.14, 840.2, 12_340].map(formatStepMs)).toEqual(['0.04 ms', '3.1 ms', '840 ms', '12.3 s']);
  });
});
