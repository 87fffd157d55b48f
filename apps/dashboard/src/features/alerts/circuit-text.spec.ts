import { expect, it } from 'vitest';
import { circuitText } from './circuit-text';

it('says that a channel fails, or that its receiver asked for a rest, and when it is tried again', () => {
  expect(circuitText({ state: 'closed', retry_at_ms: null }, 0)).toBeNull();
  expect(circuitText({ state: 'refusing', retry_at_ms: null }, 0)).toBe(
    'Failing: the latest notice was refused',
  );
  expect(circuitText({ state: 'open', retry_at_ms: 60_000 }, 500)).toBe('Failing, next try in 1 min 0 s');
  expect(circuitText({ state: 'open', retry_at_ms: 60_000 }, 60_000)).toBe('Failing, trying now');
  expect(circuitText({ state: 'resting', retry_at_ms: 60_000 }, 30_000)).toBe(
    'Resting as its receiver asked, next try in 30 s',
  );
  expect(circuitText({ state: 'resting', retry_at_ms: 3_600_000 }, 0)).toBe(
    'Resting as its receiver asked, next try in 1 h 0 min',
  );
});
