/**
 * Child of file-size.spec.ts: appends to the store at argv[2] until it takes no more, closes it and prints how many steps
 * it took. Runs from dist, as the gateway does.
 */
import { SqliteStore } from '#adapters/sqlite';
import { systemClock } from '#kernel';

// Else a write beyond the bound would end the process.
process.on('SIGXFSZ', () => {});

const store = new SqliteStore({ path: process.argv[2] ?? '', clock: systemClock, durability: 'process' });
await store.open();
let stored = 0;
for (let isTaken = true; isTaken; ) {
  const rows = Array.from({ length: 20 }, (_, at) => ({
    tenant_id: 'default',
    session_id: 'session-1',
    agent_id: 'agent-1',
    trace_id: `trace-${process.pid}-${stored + at}`,
    body_hash: 'hash',
    received_at_ms: 1_000,
    held: /** @type {const} */ (0),
    entropy_score: 1,
    entropy_severity: /** @type {const} */ ('normal'),
    window_size: 1,
    body: JSON.stringify({ cognition: { intent: 'x'.repeat(8_000) } }),
  }));
  isTaken = await store.appendSteps(rows).then(
    () => true,
    (error) => {
      if (error.code !== 'store_full') throw error;
      return false;
    },
  );
  if (isTaken) stored += rows.length;
}
await store.close();
process.stdout.write(String(stored));
