/**
 * What a test has left running, because it went red or out of time before it could end it, ends with its file: the
 * file's own hooks come first, and whether they succeed is all the same. Each file has its own, as each has its own modules.
 */
import { aroundAll } from 'vitest';

const endings: (() => unknown)[] = [];

/** @param end to be called once the file's last hook is over; also where it was ended before */
export const endWithFile = (end: () => unknown): void => void endings.push(end);

// A hook that fails keeps those behind it from running; what is around all of them runs.
aroundAll(async (runFile) => {
  await runFile();
  for (const end of endings.splice(0).reverse()) await end();
});
