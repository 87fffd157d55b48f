/**
 * Cost of one entropy score, and of one session's memory, from 1,000 to 1,000,000 live sessions in a random order
 * of access. Reads the built libraries: `npm run build:gateway && node bench/entropy.mjs`.
 *
 * A message is made as the gateway meets it: its strings come fresh from JSON.parse, its key is a string of its own
 * that was looked up once before, elsewhere. That happens outside the timed region; a heap bigger than the caches is
 * part of the measurement, and so is a cold session: what is timed gets a window that nothing touched since its last
 * step.
 *
 * Two figures: `recordAndScore` with the window that `bindAgent` gave, as the interceptor calls it; and both together,
 * which adds finding the window by its key. On a machine where one cache miss takes 140 ns, a bare Map.get of such a
 * key takes 1,200 ns at 100,000 sessions, so that peer is timed beside them in the same run.
 */
import { pathToFileURL } from 'node:url';
import { sessionKey } from '#contracts';
import { EntropyTracker } from '#domain/entropy/writer';
import { systemClock } from '#kernel';
import { liveBytes } from '#testing';
import { seededIndex } from '../scripts/lib/seeded-random.mjs';
import { median } from './lib/statistics.mjs';

/** @import { ActionStatus, EntropyTuple, SessionKey } from '#contracts' */

const SESSION_COUNTS = [1_000, 10_000, 100_000, 1_000_000];
/** More than any of them, so that a step and a session make a number of their own. */
const SESSION_COUNT_MAX = 10_000_000;
/** Calls between two looks at the timer, which is too coarse for one call. */
const BATCH_CALLS = 1_000;
const BATCHES = 300;
const STEPS_PER_SESSION = 6;
/** Sessions whose memory is looked at together, at least. */
const WEIGHED_SESSIONS = 100_000;
const BUDGET_NS = 1_000;
const BUDGET_BYTES = 1_024;

const TOOLS = [
  'search_code',
  'read_file_lines',
  'write_file',
  'run_test_suite',
  'http_request',
  'query_database',
];
/** @type {ActionStatus[]} */
const STATUSES = ['success', 'failure', 'pending', 'skipped'];

const idOf = (/** @type {number} */ session) => `sess-${String(session).padStart(8, '0')}-4f1c-9a7e`;
const keyOf = (/** @type {number} */ session) => sessionKey('default', idOf(session));
/** A text in one piece, as the tracker keeps its keys. @type {(text: string) => string} */
const textOf = (text) => JSON.parse(JSON.stringify(text));

/**
 * A session's steps as they come off the wire. Every third session does two different things, the others a thousand,
 * which come in other sessions too.
 *
 * @param {number} session
 * @param {number} step
 * @param {(below: number) => number} random
 * @param {boolean} allDistinct
 * @returns {{ session: number, key: SessionKey, tuple: EntropyTuple }}
 */
function messageOf(session, step, random, allDistinct) {
  const what = allDistinct
    ? step * SESSION_COUNT_MAX + session
    : session % 3 === 0
      ? random(2)
      : random(1_000);
  const text = JSON.stringify({
    session: idOf(session),
    intent: `inspect module ${what} for the failing test`,
    tool: TOOLS[what % TOOLS.length],
    status: STATUSES[what % 2],
  });
  const { session: id, intent, tool, status } = JSON.parse(text);
  return {
    session,
    key: sessionKey('default', id),
    tuple: { intent, tool_call: tool, action_status: status },
  };
}

/**
 * @param {number} sessionCount
 * @param {{ allDistinct?: boolean }} [options] `allDistinct`: no two tuples equal, in no session, so that nothing is shared
 */
function measure(sessionCount, { allDistinct = false } = {}) {
  let published = 0;
  const random = seededIndex(sessionCount);
  const agentOf = (/** @type {number} */ session) => TOOLS[session % TOOLS.length] ?? '';
  const fill = () => {
    const tracker = new EntropyTracker({
      clock: systemClock,
      config: { get: () => undefined },
      publisher: {
        publishAlert: () => {
          published += 1;
        },
        publishNodeState: () => {
          published += 1;
        },
      },
      warn: (message) => {
        throw new Error(message);
      },
    });
    for (let step = 0; step < STEPS_PER_SESSION; step += 1) {
      for (let session = 0; session < sessionCount; session += 1) {
        const { key, tuple } = messageOf(session, step, random, allDistinct);
        if (step === 0) tracker.bindAgent(key, agentOf(session));
        tracker.recordAndScore(key, tuple);
      }
    }
    return tracker;
  };
  // Few sessions are filled often: what else a heap holds changes by a tenth of a megabyte from one look to the next.
  const fills = Math.ceil(WEIGHED_SESSIONS / sessionCount);
  const before = liveBytes();
  const trackers = Array.from({ length: fills }, fill);
  const bytesPerSession = Math.round((liveBytes() - before) / sessionCount / fills);
  const [tracker] = trackers.splice(0);
  if (tracker === undefined) throw new Error('nothing measured');

  const peer = new Map();
  for (let session = 0; session < sessionCount; session += 1) peer.set(textOf(keyOf(session)), session);
  const windows = Array.from({ length: sessionCount }, (_, session) =>
    tracker.bindAgent(keyOf(session), agentOf(session)),
  );
  const nsPerCall = [];
  const nsPerPair = [];
  const nsPerPeerCall = [];
  const nextMessages = (/** @type {number} */ batch) =>
    Array.from({ length: BATCH_CALLS }, () =>
      messageOf(random(sessionCount), STEPS_PER_SESSION + batch, random, allDistinct),
    );
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const messages = nextMessages(batch);
    const others = nextMessages(batch);
    // Each key's first look-up, which writes it in one piece and computes its hash.
    new Set([...messages, ...others].map(({ key }) => key));
    // Finding a window in a list of a million is this program's own cache miss, and no window is touched by it.
    const calls = messages.map(({ session, tuple }) => {
      const window = windows[session];
      if (window === undefined) throw new Error(`no window of session ${session}`);
      return { window, tuple };
    });
    const peerStartNs = process.hrtime.bigint();
    for (const { key } of messages) published += peer.get(key) >= 0 ? 0 : 1;
    const startNs = process.hrtime.bigint();
    for (const { session, key, tuple } of others)
      tracker.recordAndScore(tracker.bindAgent(key, agentOf(session)), tuple);
    const pairEndNs = process.hrtime.bigint();
    for (const { window, tuple } of calls) tracker.recordAndScore(window, tuple);
    const endNs = process.hrtime.bigint();
    nsPerPeerCall.push(Number(startNs - peerStartNs) / BATCH_CALLS);
    nsPerPair.push(Number(pairEndNs - startNs) / BATCH_CALLS);
    nsPerCall.push(Number(endNs - pairEndNs) / BATCH_CALLS);
  }
  return {
    sessions: sessionCount,
    ns_per_call: Math.round(median(nsPerCall)),
    /** The batch least disturbed by whatever else the machine was doing. */
    ns_per_call_fastest: Math.round(Math.min(...nsPerCall)),
    /** With `bindAgent`, which finds the window. */
    ns_with_look_up: Math.round(median(nsPerPair)),
    /** The peer: a plain Map.get of the same keys, in the same run. */
    ns_map_get: Math.round(median(nsPerPeerCall)),
    bytes_per_session: bytesPerSession,
    windows: tracker.size,
    published,
  };
}

/**
 * @returns {Promise<{ rows: ReturnType<typeof measure>[], all_distinct: ReturnType<typeof measure>,
 *   ns_ratio_1m_to_1k: number, bytes_ratio_1m_to_1k: number, ok: boolean }>}
 */
export async function run() {
  measure(1_000);
  const allDistinct = measure(100_000, { allDistinct: true });
  const rows = SESSION_COUNTS.map((count) => measure(count));
  const [smallest, largest] = [rows[0], rows.at(-1)];
  const at100k = rows.find((row) => row.sessions === 100_000);
  if (!smallest || !largest || !at100k) throw new Error('nothing measured');
  return {
    rows,
    all_distinct: allDistinct,
    ns_ratio_1m_to_1k: Number((largest.ns_per_call / smallest.ns_per_call).toFixed(2)),
    bytes_ratio_1m_to_1k: Number((largest.bytes_per_session / smallest.bytes_per_session).toFixed(2)),
    ok:
      at100k.ns_per_call < BUDGET_NS &&
      [...rows, allDistinct].every((row) => row.bytes_per_session < BUDGET_BYTES),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const figures = await run();
  process.stdout.write('entropy: recordAndScore, median of batches of 1,000 calls, random access\n');
  for (const row of [...figures.rows, figures.all_distinct]) {
    const note = row === figures.all_distinct ? '  (no two tuples equal)' : '';
    process.stdout.write(
      `  ${String(row.sessions).padStart(9)} sessions  ${String(row.ns_per_call).padStart(5)} ns/call (fastest ${row.ns_per_call_fastest}; finding the window too ${row.ns_with_look_up}, Map.get ${row.ns_map_get})  ${String(row.bytes_per_session).padStart(5)} B/session${note}\n`,
    );
  }
  process.stdout.write(
    `  1M / 1k: time x${figures.ns_ratio_1m_to_1k}, memory x${figures.bytes_ratio_1m_to_1k}; budget ${BUDGET_NS} ns at 100k, ${BUDGET_BYTES} B: ${figures.ok ? 'met' : 'MISSED'}\n`,
  );
}
