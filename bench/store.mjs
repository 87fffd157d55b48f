/**
 * Durable appends through the store, end to end, against the limit of this machine: one thread that parses each
 * line of the same NDJSON and inserts it with one prepared statement, everything in one transaction, no index and
 * no promise kept to anyone. Reads the built libraries: `npm run build:gateway && node bench/store.mjs`.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { SQLite, SqliteStore } from '#adapters/sqlite';
import { systemClock } from '#kernel';

/** @import { StepRow } from '#contracts' */
/** @import { Durability } from '#adapters/sqlite' */

const ROWS = 50_000;
const BATCH_ROWS = 500;
const BATCHES_IN_FLIGHT = 4;
const CONCURRENT_SINGLES = 64;
const ROUNDS = 5;

/** About 900 bytes, as agents send them. @param {string} round @param {number} index */
function line(round, index) {
  const trace = createHash('sha256').update(`${round} ${index}`).digest('hex');
  return JSON.stringify({
    meta: {
      trace_id: `${trace.slice(0, 8)}-${trace.slice(8, 12)}-${trace.slice(12, 16)}-${trace.slice(16, 28)}`,
      timestamp: '2026-01-01T00:00:00.000Z',
      session_id: `session-${String(index % 200).padStart(8, '0')}`,
    },
    identity: { agent_id: `agent-${index % 50}`, agent_type: 'researcher', capability_version: '1.4.2' },
    cognition: {
      intent: `compare sources on question ${index}`,
      reasoning_chain: [
        'The first source contradicts the second on the date. '.repeat(2),
        'A third is needed. '.repeat(5),
      ],
      confidence_score: 0.72,
      strategy_used: 'react',
      entropy_score: 0.8,
      entropy_severity: 'normal',
    },
    action: {
      status: 'success',
      tool_call: 'web_search',
      tool_input: { query: 'publication date of the second edition', limit: 10 },
      tool_output_summary: 'Ten results; the third names the year and the publisher. '.repeat(3),
      duration_ms: 412,
    },
    state_delta: { added_to_memory: [], tokens_consumed: 512, cumulative_session_cost: 0.0123 },
    control: { hitl_required: false, interrupt_signal: null, is_terminal: false },
  });
}

/** @param {string} text @returns {StepRow} */
function toRow(text) {
  const log = JSON.parse(text);
  return {
    tenant_id: 'default',
    session_id: log.meta.session_id,
    agent_id: log.identity.agent_id,
    trace_id: log.meta.trace_id,
    body_hash: createHash('sha256').update(text).digest('hex'),
    received_at_ms: 1_767_225_600_000,
    held: 0,
    entropy_score: 0.8,
    entropy_severity: 'normal',
    window_size: 5,
    body: text,
  };
}

/** @param {string} path @param {string[]} lines @returns {{ us: number, cpuUs: number }} per row */
function measureLimit(path, lines) {
  const database = new SQLite(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec(
    'CREATE TABLE logs (seq INTEGER PRIMARY KEY, trace_id TEXT, session_id TEXT, agent_id TEXT, body TEXT)',
  );
  const insert = database.prepare(
    'INSERT INTO logs (trace_id, session_id, agent_id, body) VALUES (?, ?, ?, ?)',
  );
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  database.transaction(() => {
    for (const text of lines) {
      const log = JSON.parse(text);
      insert.run(log.meta.trace_id, log.meta.session_id, log.identity.agent_id, text);
    }
  })();
  const elapsedMs = performance.now() - startedMs;
  const cpu = process.cpuUsage(cpuBefore);
  database.close();
  return { us: (elapsedMs * 1_000) / lines.length, cpuUs: (cpu.user + cpu.system) / lines.length };
}

/**
 * @param {Durability} durability
 * @param {string} path
 * @param {string[]} lines
 * @param {number} callRows rows per call
 * @param {number} callsInFlight
 */
async function measureStore(durability, path, lines, callRows, callsInFlight) {
  const rows = lines.map(toRow);
  const store = new SqliteStore({ path, clock: systemClock, durability });
  await store.open();
  let next = 0;
  const cpuBefore = process.cpuUsage();
  const loopBefore = performance.eventLoopUtilization();
  const startedMs = performance.now();
  const worker = async () => {
    while (next < rows.length) {
      const from = next;
      next += callRows;
      await store.appendSteps(rows.slice(from, from + callRows));
    }
  };
  await Promise.all(Array.from({ length: callsInFlight }, worker));
  const elapsedMs = performance.now() - startedMs;
  const loop = performance.eventLoopUtilization(loopBefore);
  const cpu = process.cpuUsage(cpuBefore);
  await store.close();
  return {
    us: (elapsedMs * 1_000) / rows.length,
    mainUs: (loop.active * 1_000) / rows.length,
    cpuUs: (cpu.user + cpu.system) / rows.length,
  };
}

const median = (/** @type {number[]} */ values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Prints one line per round-median; the ratio is taken within each round, so that a noisy machine hurts both sides. */
export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'observatory-bench-'));
  /** @type {Map<string, { us: number, mainUs: number, cpuUs: number, ratio: number }[]>} */
  const found = new Map();
  /** @type {{ us: number, cpuUs: number }[]} */
  const limits = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = Array.from({ length: ROWS }, (_, index) => line(`${round}`, index));
      const limit = measureLimit(join(folder, `limit-${round}.db`), lines);
      limits.push(limit);
      for (const durability of /** @type {Durability[]} */ (['power_loss', 'process'])) {
        const shapes = /** @type {[string, number, number][]} */ ([
          [`batches of ${BATCH_ROWS}`, BATCH_ROWS, BATCHES_IN_FLIGHT],
          [`${CONCURRENT_SINGLES} concurrent single appends`, 1, CONCURRENT_SINGLES],
        ]);
        for (const [shape, callRows, callsInFlight] of shapes) {
          const name = `${shape}, survives ${durability}`;
          const path = join(folder, `${round}-${durability}-${callRows}.db`);
          const figures = await measureStore(durability, path, lines, callRows, callsInFlight);
          found.set(name, [...(found.get(name) ?? []), { ...figures, ratio: limit.us / figures.us }]);
          for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const ofLimit = (/** @type {'us' | 'cpuUs'} */ key) => median(limits.map((each) => each[key])).toFixed(1);
  process.stdout.write(
    `store: limit (parse and insert, one transaction) ${ofLimit('us')} us a row (processor ${ofLimit('cpuUs')} us)\n`,
  );
  for (const [name, rounds] of found) {
    const of = (/** @type {'us' | 'mainUs' | 'cpuUs' | 'ratio'} */ key) =>
      median(rounds.map((each) => each[key]));
    process.stdout.write(
      `store: ${name}: ${of('us').toFixed(1)} us a row, ${of('ratio').toFixed(2)} of the limit` +
        ` (main thread busy ${of('mainUs').toFixed(1)} us, processor ${of('cpuUs').toFixed(1)} us)\n`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await run();
