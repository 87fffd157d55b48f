import { expect, test, vi } from 'vitest';
import { Interrupt } from './interrupt.js';

test('tells the latest listener, once, and nobody who came too late', () => {
  const interrupt = new Interrupt();
  const [first, second, late] = [vi.fn(), vi.fn(), vi.fn()];
  interrupt.listen(first);
  interrupt.listen(second);
  expect(interrupt.isRaised).toBe(false);
  interrupt.raise();
  interrupt.raise();
  interrupt.listen(late);
  expect(interrupt.isRaised).toBe(true);
  expect([first, second, late].map((listener) => listener.mock.calls.length)).toEqual([0, 1, 0]);
});

test('tells nobody where nobody listens any more', () => {
  const interrupt = new Interrupt();
  const listener = vi.fn();
  interrupt.listen(listener);
  interrupt.listen(null);
  interrupt.raise();
  expect(listener).not.toHaveBeenCalled();
});
