import { expect, it } from 'vitest';
import { inTime } from './in-time.js';

const late = () => new Error('late');
const never = new Promise<string>(() => {});

it('settles like the reply', async () => {
  await expect(inTime(Promise.resolve('here'), 1_000, late)).resolves.toBe('here');
  await expect(inTime(Promise.reject(new Error('refused')), 1_000, late)).rejects.toThrow('refused');
});

it('rejects where none comes', async () => {
  await expect(inTime(never, 1, late)).rejects.toThrow('late');
});

it('takes a reply that came while this process was busy for longer than the time', async () => {
  const reply = new Promise<string>((resolve) => {
    setTimeout(() => setImmediate(() => resolve('lay there')), 1);
  });
  const answer = inTime(reply, 1, late);
  const busyUntil = performance.now() + 20;
  while (performance.now() < busyUntil);
  await expect(answer).resolves.toBe('lay there');
});
