/** Child of run.mjs: imports one bench, runs it, hands its result back and exits, helpers and all. */
const [file = ''] = process.argv.slice(2);
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
  process.once(signal, () => process.exit(130));
process.once('disconnect', () => process.exit(130));

/** @type {{ result: unknown } | { error: string }} */
let answer;
try {
  const { run } = await import(file);
  // `undefined` would not survive the way to the parent.
  answer = { result: (await run()) ?? null };
} catch (error) {
  answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
process.send?.(answer, () => process.exit('error' in answer ? 1 : 0));
