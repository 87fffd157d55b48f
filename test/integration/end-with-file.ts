/**
 * What a test has left running, because it went red or out of time before it could end it, ends with its file: the
 * file's own hooks come first. Each file has its own, as each has its own modules.
 */
import { afterAll } from 'vitest';

const endings: (() => unknown)[] = [];

/** @param end to be called once the file's last hook is over; also where it was ended before */
export const endWithFile = (end: () => unknown): void => void endings.push(end);

afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
