import { describe, expect, it } from 'vitest';
import { verifySignature } from '#testing';
import {
  afterFailure,
  type ChannelCircuit,
  CIRCUIT_FAILURES_MAX,
  CIRCUIT_OPEN_MS,
  CIRCUIT_OPEN_MS_MAX,
  CLOSED_CIRCUIT,
  decideSending,
} from './channel-circuit.js';
import { RETRY_AFTER_MS_MAX, RETRY_DELAYS_MS, retryDelayMs } from './retry-schedule.js';
import { signBody } from './webhook-signature.js';

describe('the retry schedule', () => {
  it('waits longer each time, over hours, ten attempts in all', () => {
    const waits = Array.from({ length: 10 }, (_, n) => retryDelayMs(n + 1, 0.5));
    expect(waits).toEqual([...RETRY_DELAYS_MS, null]);
    expect([...RETRY_DELAYS_MS].sort((a, b) => a - b)).toEqual(RETRY_DELAYS_MS);
    expect(RETRY_DELAYS_MS.reduce((sum, ms) => sum + ms)).toBeGreaterThan(6 * 3_600_000);
  });

  it('differs by up to a fifth either way', () => {
    expect([retryDelayMs(1, 0), retryDelayMs(1, 1)]).toEqual([800, 1_200]);
  });

  it('waits as long as the receiver asks for, up to an hour', () => {
    expect(retryDelayMs(1, 0.5, 90_000)).toBe(90_000);
    expect(retryDelayMs(1, 0.5, 10 * RETRY_AFTER_MS_MAX)).toBe(RETRY_AFTER_MS_MAX);
    expect(retryDelayMs(9, 0.5, 1_000)).toBe(RETRY_DELAYS_MS[8]);
  });
});

describe('the circuit', () => {
  const failed = (count: number, nowMs = 0, from: ChannelCircuit = CLOSED_CIRCUIT): ChannelCircuit => {
    let circuit = from;
    for (let n = 0; n < count; n += 1) circuit = afterFailure(circuit, nowMs);
    return circuit;
  };

  it('stays closed below five failures in a row', () => {
    expect(decideSending(failed(CIRCUIT_FAILURES_MAX - 1), 0)).toBe('go');
  });

  it('opens at the fifth, and lets one try when its time is over', () => {
    const open = failed(CIRCUIT_FAILURES_MAX);
    expect(open.retryAtMs).toBe(CIRCUIT_OPEN_MS);
    expect(decideSending(open, CIRCUIT_OPEN_MS - 1)).toBe('wait');
    expect(decideSending(open, CIRCUIT_OPEN_MS)).toBe('trial');
  });

  it('rests twice as long after each failed trial, up to a bound', () => {
    let circuit = failed(CIRCUIT_FAILURES_MAX);
    const rests: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const nowMs = circuit.retryAtMs ?? 0;
      circuit = afterFailure(circuit, nowMs);
      rests.push((circuit.retryAtMs ?? 0) - nowMs);
    }
    expect(rests.slice(0, 2)).toEqual([2 * CIRCUIT_OPEN_MS, 4 * CIRCUIT_OPEN_MS]);
    expect(rests.at(-1)).toBe(CIRCUIT_OPEN_MS_MAX);
  });

  it('rests as long as the receiver asks for, up to a bound, and lets one try then', async () => {
    const resting = afterFailure(CLOSED_CIRCUIT, 0, 2_000);
    expect(decideSending(resting, 1_999)).toBe('wait');
    expect(decideSending(resting, 2_000)).toBe('trial');
    expect(afterFailure(resting, 500, 1_000).retryAtMs).toBe(2_000);
    expect(afterFailure(CLOSED_CIRCUIT, 0, 2 * CIRCUIT_OPEN_MS_MAX).retryAtMs).toBe(CIRCUIT_OPEN_MS_MAX);
    const asksEachTime = failed(CIRCUIT_FAILURES_MAX - 1);
    expect(afterFailure(asksEachTime, 0, 2_000).retryAtMs).toBe(CIRCUIT_OPEN_MS);
  });

  it('knows whether it rests because its receiver asked for it', () => {
    const resting = afterFailure(CLOSED_CIRCUIT, 0, 2_000);
    expect(resting.isAsked).toBe(true);
    // Under way when the receiver asked.
    expect(afterFailure(resting, 1_000).isAsked).toBe(true);
    expect(afterFailure(resting, 2_000).isAsked).toBe(false);
    expect(failed(CIRCUIT_FAILURES_MAX).isAsked).toBe(false);
    expect(failed(CIRCUIT_FAILURES_MAX, 2_000, resting).isAsked).toBe(false);
    expect(afterFailure(failed(CIRCUIT_FAILURES_MAX - 1), 0, 2_000).isAsked).toBe(false);
    expect(afterFailure(failed(CIRCUIT_FAILURES_MAX), 0, 2 * CIRCUIT_OPEN_MS).isAsked).toBe(true);
  });

  it('lets one try where the clock was set back: no rest is as long as that', () => {
    const open = failed(CIRCUIT_FAILURES_MAX, 3_600_000);
    expect(decideSending(open, 3_600_000)).toBe('wait');
    expect(decideSending(open, 0)).toBe('trial');
  });

  it('is not opened for longer by what was under way when it opened', () => {
    const open = failed(CIRCUIT_FAILURES_MAX);
    expect(afterFailure(open, 5).retryAtMs).toBe(open.retryAtMs);
  });
});

describe('the signature of a webhook', () => {
  it('is the HMAC-SHA256 of time and body, as another implementation computes it', () => {
    // printf '1760000000.{"a":1}' | openssl dgst -sha256 -hmac key
    const digest = 'ea2dd8b79cfdfdd125316a2c1461695044ab2ddf62592b0eee2b53cd466ca512';
    expect(signBody('key', '{"a":1}', 1_760_000_000_000)).toBe(`t=1760000000,v1=${digest}`);
  });

  it('covers the bytes of the body, whatever its letters, and the second of its time', () => {
    const signed = { secret: 'a-secret-of-sixteen', body: '{"title":"Grüße"}', nowMs: 1_760_000_000_900 };
    const header = signBody(signed.secret, signed.body, signed.nowMs);
    expect(header).toContain('t=1760000000,');
    expect(verifySignature({ ...signed, header })).toBe(true);
    expect(verifySignature({ ...signed, header, body: '{"title":"Grüsse"}' })).toBe(false);
  });
});
