/**
 * DecisionLogs as a busy fleet sends them: about 900 bytes each, steps of 1,000 sessions in turn, every trace_id used
 * once, nobody in circles. Texts are made once; a request only writes new digits into them.
 */

/** Digits of the counter that tells one step from another. */
const digits = 12;
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

const counterMark = '#'.repeat(digits);
const parentMark = '@'.repeat(digits);

/**
 * @param {number} session
 * @param {number} turn
 * @param {string} prefix tells the traffic of one bench from that of another
 */
function textOf(session, turn, prefix) {
  const { intent, tool_call, query } = steps[turn % stepsInTurn] ?? { intent: '', tool_call: '', query: '' };
  return JSON.stringify({
    meta: {
      trace_id: `${prefix}-${counterMark}`,
      timestamp: '2026-03-01T10:00:00.000Z',
      session_id: `${prefix}-session-${String(session).padStart(6, '0')}`,
      parent_step_id: `${prefix}-${parentMark}`,
      cluster_id: `cluster-${session % 10}`,
      source_app: 'bench',
    },
    identity: {
      agent_id: `agent-${session % 100}`,
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

/** @param {Buffer} text @param {number} at @param {number} counter */
function writeDigits(text, at, counter) {
  let rest = counter;
  for (let digit = at + digits - 1; digit >= at; digit--) {
    text[digit] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/**
 * Requests of `linesPerBody` steps each, for one connection. A request is one buffer, head and body, that is changed in
 * place: the next may be taken once the last was answered.
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
  const slots = sessions.flatMap((session) =>
    Array.from({ length: stepsInTurn }, (_, turn) => ({ session, text: textOf(session, turn, prefix) })),
  );
  // All sessions take their first turn, then all their second: neighbours in time are of different sessions.
  const order = Array.from({ length: stepsInTurn }, (_, turn) =>
    slots.filter((_slot, at) => at % stepsInTurn === turn),
  ).flat();
  /** @type {{ request: Buffer, lines: { at: number, parentAt: number, session: number }[] }[]} */
  const requests = [];
  const bodyCount = Math.max(1, Math.ceil(order.length / linesPerBody));
  for (let body = 0; body < bodyCount; body++) {
    const taken = Array.from({ length: linesPerBody }, (_, line) => {
      const slot = order[(body * linesPerBody + line) % order.length];
      if (!slot) throw new Error('a connection needs at least one session');
      return slot;
    });
    requests.push(makeRequest(taken, { host, path, key, isBatch: linesPerBody > 1 }));
  }

  /** @type {Map<number, number>} session -> counter of its last step */
  const lastCounters = new Map();
  let counter = firstCounter;
  let next = 0;
  return () => {
    const { request, lines } = /** @type {(typeof requests)[number]} */ (requests[next]);
    next = (next + 1) % requests.length;
    for (const { at, parentAt, session } of lines) {
      writeDigits(request, at, counter);
      writeDigits(request, parentAt, lastCounters.get(session) ?? 0);
      lastCounters.set(session, counter);
      counter += counterStride;
    }
    return request;
  };
}

/**
 * @param {{ session: number, text: string }[]} taken
 * @param {{ host: string, path: string, key: string, isBatch: boolean }} target
 */
function makeRequest(taken, { host, path, key, isBatch }) {
  const body = taken.map(({ text }) => text).join('\n');
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
  const lines = taken.map(({ session, text }) => {
    const at = request.indexOf(counterMark, from);
    const parentAt = request.indexOf(parentMark, at);
    from += Buffer.byteLength(text) + 1;
    return { at, parentAt, session };
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
export const stepBytes = Buffer.byteLength(textOf(0, 1, 'bench'));
