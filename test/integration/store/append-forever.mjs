/**
 * Child of store.spec.ts: appends to the store at argv[2] until it is killed, and prints every sequence number it was
 * promised. Runs from dist, as the gateway does.
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteStore } from '#adapters/sqlite';
import { systemClock } from '#kernel';

const store = new SqliteStore({ path: process.argv[2] ?? '', clock: systemClock });
await store.open();
let serial = 0;

async function appendForever() {
  while (true) {
    serial += 1;
    const [commit] = await store.appendSteps([
      {
        tenant_id: 'default',
        session_id: 'session-1',
        agent_id: 'agent-1',
        trace_id: `trace-${process.pid}-${serial}`,
        body_hash: 'hash',
        received_at_ms: 1_000 + serial,
        held: 0,
        entropy_score: 1,
        entropy_severity: 'normal',
        window_size: 1,
        body: JSON.stringify({ cognition: { intent: 'x'.repeat(900) } }),
      },
    ]);
    await print(`${commit?.seq}\n`);
  }
}

/** Synchronous: what was printed is out of this process when the signal comes. @param {string} line */
async function print(line) {
  while (true) {
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      // The reader is behind, and its pipe full.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN') throw error;
      await sleep(1);
    }
  }
}
await Promise.all(Array.from({ length: 16 }, appendForever));
