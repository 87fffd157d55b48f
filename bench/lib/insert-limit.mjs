/**
 * The limit of the batch bench: JSON.parse plus one prepared insert per line, one transaction per batch, into a table
 * with no index but its key. Durable as the gateway's store is: WAL, and a sync at every commit.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLite } from '#adapters/sqlite';
import { serve } from './helper.mjs';
import { makeLines } from './traffic.mjs';

const folder = mkdtempSync(join(tmpdir(), 'observatory-limit-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const database = new SQLite(join(folder, 'limit.db'));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('wal_autocheckpoint = 4000');
database.exec(
  'CREATE TABLE steps (seq INTEGER PRIMARY KEY, trace_id TEXT NOT NULL, session_id TEXT NOT NULL, body TEXT NOT NULL) STRICT',
);
const insert = database.prepare('INSERT INTO steps (trace_id, session_id, body) VALUES (?, ?, ?)');
const insertBatch = database.transaction((/** @type {string} */ text) => {
  for (const line of text.split('\n')) {
    const { meta } = JSON.parse(line);
    insert.run(meta.trace_id, meta.session_id, line);
  }
});

/** @type {(() => string) | null} */
let nextBatch = null;

serve({
  /** @param {{ seconds: number, lineCount: number }} window @returns {{ linesPerSecond: number }} without the making of the text */
  run({ seconds, lineCount }) {
    nextBatch ??= makeLines({ lineCount, prefix: 'limit', firstCounter: 1 });
    let lines = 0;
    let spentMs = 0;
    while (spentMs < seconds * 1000) {
      const text = nextBatch();
      const startedAt = performance.now();
      insertBatch(text);
      spentMs += performance.now() - startedAt;
      lines += lineCount;
    }
    return { linesPerSecond: (lines / spentMs) * 1000 };
  },
});
