/** Files share their process, and with it the modules; this one alone is read anew for each of them. */
import { aroundAll } from 'vitest';
import { endAll } from './end-with-file.js';

// A hook that fails keeps those behind it from running; what is around all of them runs.
aroundAll(async (runFile) => {
  await runFile();
  await endAll();
});
