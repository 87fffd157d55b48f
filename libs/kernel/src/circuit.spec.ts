import { expect, it } from 'vitest';
import { FakeClock } from '#testing';
import { Circuit } from './circuit.js';

const start = () => {
  const clock = new FakeClock();
  return { clock, circuit: new Circuit(clock, { firstMs: 100, maxMs: 2_000 }) };
};
const fail = (circuit: Circuit, times: number): void => {
  for (let count = 0; count < times; count += 1) circuit.failed();
};

it('opens after three failures in a row, not before', () => {
  const { circuit } = start();
  fail(circuit, 2);
  circuit.succeeded();
  fail(circuit, 2);
  expect([circuit.isOpen, circuit.mayAsk()]).toEqual([false, true]);
  fail(circuit, 1);
  expect([circuit.isOpen, circuit.mayAsk()]).toEqual([true, false]);
});

it('lets one through when the pause is over, and closes when that one works', () => {
  const { circuit, clock } = start();
  fail(circuit, 3);
  clock.advance(99);
  expect(circuit.mayAsk()).toBe(false);
  clock.advance(1);
  expect([circuit.mayAsk(), circuit.mayAsk(), circuit.mayAsk()]).toEqual([true, false, false]);
  circuit.succeeded();
  expect([circuit.isOpen, circuit.mayAsk(), circuit.mayAsk()]).toEqual([false, true, true]);
});

it('pauses twice as long each time the one fails, up to two seconds, and not for those sent before', () => {
  const { circuit, clock } = start();
  fail(circuit, 200);
  const pauses = [100, 200, 400, 800, 1_600, 2_000, 2_000];
  for (const pauseMs of pauses) {
    clock.advance(pauseMs - 1);
    expect(circuit.mayAsk()).toBe(false);
    clock.advance(1);
    expect(circuit.mayAsk()).toBe(true);
    fail(circuit, 5);
  }
  clock.advance(2_000);
  circuit.mayAsk();
  circuit.succeeded();
  fail(circuit, 3);
  clock.advance(100);
  expect(circuit.mayAsk()).toBe(true);
});

it('lets another through when the one never told how it went', () => {
  const { circuit, clock } = start();
  fail(circuit, 3);
  clock.advance(100);
  expect([circuit.mayAsk(), circuit.mayAsk()]).toEqual([true, false]);
  clock.advance(5_000);
  expect(circuit.mayAsk()).toBe(true);
});

it.each([-86_400_000, 86_400_000])('pauses as long where somebody sets the clock by %i ms', (ms) => {
  const { circuit, clock } = start();
  fail(circuit, 3);
  clock.set(clock.nowMs() + ms);
  expect(circuit.mayAsk()).toBe(false);
  clock.advance(100);
  expect([circuit.mayAsk(), circuit.mayAsk()]).toEqual([true, false]);
});
