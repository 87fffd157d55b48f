import { expect, it, vi } from 'vitest';
import { RunningCalls } from './running-calls.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('writes at once for a call that is alone, and for several at the end of the turn', async () => {
  const running = new RunningCalls({ max: 8, onFull: vi.fn() });
  const seen: string[] = [];
  running.enter('acme', 'https://one.example');
  running.writeTogether(() => seen.push('alone'));
  expect(seen).toEqual(['alone']);
  running.enter('acme', 'https://other.example');
  running.writeTogether(() => seen.push('first of two'));
  running.writeTogether(() => seen.push('second of two'));
  expect(seen).toEqual(['alone']);
  await nextTurn();
  expect(seen).toEqual(['alone', 'first of two', 'second of two']);
  running.leave('acme', 'https://other.example');
  running.writeTogether(() => seen.push('alone again'));
  expect(seen.at(-1)).toBe('alone again');
});

it('counts nobody who was refused', () => {
  const running = new RunningCalls({ max: 2, onFull: vi.fn() });
  expect([
    running.enter('acme', 'https://one.example'),
    running.enter('acme', 'https://one.example'),
  ]).toEqual([true, false]);
  const write = vi.fn();
  running.writeTogether(write);
  expect(write).toHaveBeenCalledOnce();
});
