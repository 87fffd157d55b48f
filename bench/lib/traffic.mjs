/**
 * DecisionLogs as a busy fleet sends them: about 900 bytes each, steps of 1,000 sessions in turn, every trace_id used
 * once, nobody in circles. Texts are made once; a request only writes new digits into them.
 */

export const sessionCount = 1_000;
/** Different steps of one session in turn: four in a window of five are different, so nothing is alerted. */
const stepsInTurn = 4;

const steps = [
  {
    intent: 'locate_failing_module',
    tool_call: 'code.search',
    query: 'renderInvoiceTotals in packages/billing',
  },
  { intent: 'read_source', tool_call: 'file.read', query: 'packages/billing/src/invoice/totals.ts:1-240' },
  { intent: 'apply_patch', tool_call: 'file.edit', query: 'packages/billing/src/invoice/totals.ts:88-96' },
  { intent: 'run_unit_tests', tool_call: 'shell.exec', query: 'npm test -- packages/billing --reporter dot' },
];

/** What stands in a text where a number is to be written: one digit for each sign. */
const marks = {
  counter: '#'.repeat(12),
  parent: '@'.repeat(12),
  session: '$'.repeat(6),
  agent: '%%',
  cluster: '&',
};
const markNames = /** @type {(keyof typeof marks)[]} */ (Object.keys(marks));

/** @typedef {Record<keyof typeof marks, number>} Places where each number begins */
/** @typedef {{ request: Buffer, lines: Places[] }} Template */

/**
 * @param {number} turn
 * @param {string} prefix tells the traffic of one bench from that of another
 */
function textOf(turn, prefix) {
  const { intent, tool_call, query } = steps[turn % stepsInTurn] ?? { intent: '', tool_call: '', query: '' };
  return JSON.stringify({
    meta: {
      trace_id: `${prefix}-${marks.counter}`,
      timestamp: '2026-03-01T10:00:00.000Z',
      session_id: `${prefix}-session-${marks.session}`,
      parent_step_id: `${prefix}-${marks.parent}`,
      cluster_id: `cluster-${marks.cluster}`,
      source_app: 'bench',
    },
    identity: {
      agent_id: `agent-${marks.agent}`,
      agent_type: 'coder',
      capability_version: '1.4.2',
      model_name: 'claude-sonnet',
    },
    cognition: {
      intent,
      reasoning_chain: ['The total is rounded per line and again at the end.'],
      confidence_score: 0.82,
      strategy_used: 'divide_and_conquer',
      entropy_score: 0.9,
    },
    action: {
      status: 'success',
      tool_call,
      tool_input: { query, limit: 20, recursive: true },
      tool_output_summary: 'Three matches; the first is the function itself, the others call it.',
      duration_ms: 184,
    },
    state_delta: { added_to_memory: [], tokens_consumed: 812, cumulative_session_cost: 0.1421 },
    control: { hitl_required: false, interrupt_signal: null, is_terminal: false },
  });
}

/** @param {Buffer} text @param {number} at @param {number} digits @param {number} value */
function writeDigits(text, at, digits, value) {
  let rest = value;
  for (let digit = at + digits - 1; digit >= at; digit--) {
    const tenth = Math.floor(rest / 10);
    text[digit] = 48 + (rest - tenth * 10);
    rest = tenth;
  }
}

/**
 * Requests of `linesPerBody` steps each, for one connection. A request is one buffer, head and body, that is changed in
 * place: the next may be taken once the last was answered. Steps that differ in their numbers alone share one, which stays in
 * the processor's caches.
 *
 * @param {{ sessions: number[], prefix: string, linesPerBody: number, firstCounter: number, counterStride: number,
 *   host: string, path: string, key: string }} options counters go `firstCounter`, `+ counterStride`, ...
 * @returns {() => Buffer} the next request
 */
export function makeRequests({
  sessions,
  prefix,
  linesPerBody,
  firstCounter,
  counterStride,
  host,
  path,
  key,
}) {
  if (sessions.length === 0) throw new Error('a connection needs at least one session');
  const target = { host, path, key, isBatch: linesPerBody > 1 };
  /** @type {Map<string, Template>} */
  const templates = new Map();
  // All sessions take their first turn, then all their second: neighbours in time are of different sessions.
  const turnOf = (/** @type {number} */ step) => Math.floor(step / sessions.length) % stepsInTurn;
  const bodyCount = Math.max(1, Math.ceil((sessions.length * stepsInTurn) / linesPerBody));
  const bodies = Array.from({ length: bodyCount }, (_, body) => {
    const turns = Array.from({ length: linesPerBody }, (__, line) => turnOf(body * linesPerBody + line));
    const name = turns.join();
    const template = templates.get(name) ?? makeTemplate(turns, prefix, target);
    templates.set(name, template);
    return template;
  });

  /** @type {Map<number, number>} session -> counter of its last step */
  const lastCounters = new Map();
  let counter = firstCounter;
  let next = 0;
  return () => {
    const { request, lines } = /** @type {Template} */ (bodies[next]);
    let step = next * linesPerBody;
    next = (next + 1) % bodies.length;
    for (const at of lines) {
      const session = sessions[step % sessions.length] ?? 0;
      step += 1;
      writeDigits(request, at.counter, marks.counter.length, counter);
      writeDigits(request, at.parent, marks.parent.length, lastCounters.get(session) ?? 0);
      writeDigits(request, at.session, marks.session.length, session);
      writeDigits(request, at.agent, marks.agent.length, session % 100);
      writeDigits(request, at.cluster, marks.cluster.length, session % 10);
      lastCounters.set(session, counter);
      counter += counterStride;
    }
    return request;
  };
}

/**
 * @param {number[]} turns
 * @param {string} prefix
 * @param {{ host: string, path: string, key: string, isBatch: boolean }} target
 * @returns {Template}
 */
function makeTemplate(turns, prefix, { host, path, key, isBatch }) {
  const texts = turns.map((turn) => textOf(turn, prefix));
  const body = texts.join('\n');
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    `Content-Type: ${isBatch ? 'application/x-ndjson' : 'application/json'}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    '',
  ].join('\r\n');
  const request = Buffer.from(head + body);
  let from = head.length;
  const lines = texts.map((text) => {
    const places = markNames.map((name) => [name, request.indexOf(marks[name], from)]);
    from += Buffer.byteLength(text) + 1;
    return /** @type {Places} */ (Object.fromEntries(places));
  });
  return { request, lines };
}

/**
 * The same steps as text, for what is measured without HTTP.
 *
 * @param {{ lineCount: number, prefix: string, firstCounter: number }} options
 * @returns {() => string} the next `lineCount` lines
 */
export function makeLines({ lineCount, prefix, firstCounter }) {
  const sessions = Array.from({ length: sessionCount }, (_, session) => session);
  const options = { linesPerBody: lineCount, counterStride: 1, host: '-', path: '/', key: '-' };
  const next = makeRequests({ ...options, sessions, prefix, firstCounter });
  return () => {
    const request = next();
    return request.toString('utf8', request.indexOf('\r\n\r\n') + 4);
  };
}

/** Bytes of one step on the wire. */
export const stepBytes = Buffer.byteLength(textOf(1, 'bench'));
