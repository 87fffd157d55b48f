import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallTally, TALLY_BUCKETS } from './call-tally.js';

const WINDOW_MS = 3_000;
const BUCKET_MS = WINDOW_MS / TALLY_BUCKETS;

describe('the tally of calls', () => {
  it('counts what a list of all calls would count, to a bucket', () => {
    const calls = fc.array(fc.record({ afterMs: fc.nat(1_000), failed: fc.boolean() }), {
      maxLength: 60,
      size: 'max',
    });
    fc.assert(
      fc.property(calls, fc.nat(5_000), (steps, restMs) => {
        const tally = new CallTally(WINDOW_MS);
        let nowMs = 1_760_000_000_000;
        const all: { atMs: number; failed: boolean }[] = [];
        for (const { afterMs, failed } of steps) {
          nowMs += afterMs;
          tally.add(nowMs, failed);
          all.push({ atMs: nowMs, failed });
        }
        nowMs += restMs;
        const first = Math.floor(nowMs / BUCKET_MS) - TALLY_BUCKETS + 1;
        const kept = all.filter(({ atMs }) => Math.floor(atMs / BUCKET_MS) >= first);
        expect(tally.read(nowMs)).toEqual({
          callCount: kept.length,
          failureCount: kept.filter(({ failed }) => failed).length,
        });
      }),
    );
  });

  it('loses none of those around one that is told late', () => {
    const tally = new CallTally(WINDOW_MS);
    const nowMs = 1_760_000_000_000;
    for (const atMs of [nowMs, nowMs - 5 * BUCKET_MS, nowMs]) tally.add(atMs, true);
    expect(tally.read(nowMs)).toEqual({ callCount: 3, failureCount: 3 });
  });
});
