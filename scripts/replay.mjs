/**
 * `npm run replay -- <file.jsonl>`: posts recorded agent traces to a running Observatory as DecisionLogs and says, at
 * the end, which of the labelled ones it alerted on. Labels stay here. See lib/replay-trace.mjs for the mapping.
 */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isHttpUrl } from './lib/http-url.mjs';
import { AgentClientError, DEFAULT_URL, send } from './lib/observatory-agent.mjs';
import { bar, ProgressLine } from './lib/progress-line.mjs';
import { Replay } from './lib/replay-run.mjs';
import { formatSummary, ReplaySummary } from './lib/replay-summary.mjs';

const help = `Posts recorded agent traces to a running Observatory as DecisionLogs.

  npm run replay -- <file.jsonl> [options]

  --url URL          where Observatory listens (${DEFAULT_URL}, or OBSERVATORY_URL)
  --key KEY          agent key (or OBSERVATORY_AGENT_KEY)
  --limit N          only the first N traces
  --speed N          N times real time, at 2 s per step (default: as fast as the server takes it)
  --concurrency N    traces side by side, 1..256 (default 16)
  --batch            NDJSON batches of up to 500 steps instead of one request per step
  --intent KIND      class (default) or text: which recorded intent is sent
  --run NAME         appended to session ids, so that one file can be replayed twice as new sessions
  --ignore-control   go on although an operator paused or terminated a session
  --help

One session per trace, one DecisionLog per step. Nothing under "label" is sent. A status "unknown" is sent as "pending".
A paused session waits until it is resumed; a terminated one ends there. Ctrl-C stops with the summary so far.
Exit status: 0 something was accepted, 1 nothing was, or the server could not be reached; 2 wrong usage; 130 Ctrl-C.
`;

class UsageError extends Error {}

/** @param {string | undefined} text @param {string} name @param {number} min @param {number} max @param {boolean} whole */
function parseNumber(text, name, min, max, whole = true) {
  const value = Number(text);
  if (!Number.isFinite(value) || value < min || value > max || (whole && !Number.isInteger(value))) {
    throw new UsageError(
      `--${name} takes a ${whole ? 'whole ' : ''}number from ${min} to ${max}, not "${text}"`,
    );
  }
  return value;
}

/** @param {string[]} args @returns {import('./lib/replay-run.mjs').ReplayOptions | null} null: help was asked for */
function parseOptions(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: text,
      key: text,
      limit: text,
      speed: text,
      concurrency: text,
      intent: text,
      run: text,
      batch: flag,
      'ignore-control': flag,
      help: { ...flag, short: 'h' },
    },
  });
  if (values.help) return null;
  const [file, ...others] = positionals;
  if (!file || others.length > 0) throw new UsageError('name one .jsonl file of recorded traces');
  const key = values.key ?? process.env.OBSERVATORY_AGENT_KEY;
  if (!key) {
    throw new UsageError(
      'no agent key: give --key or set OBSERVATORY_AGENT_KEY (first start prints one; Settings makes more)',
    );
  }
  const url = values.url ?? (process.env.OBSERVATORY_URL || DEFAULT_URL);
  if (!isHttpUrl(url))
    throw new UsageError(`--url (or OBSERVATORY_URL) takes a URL such as ${DEFAULT_URL}, not "${url}"`);
  const intent = values.intent ?? 'class';
  if (intent !== 'class' && intent !== 'text') throw new UsageError('--intent is class or text');
  if (values.run !== undefined && !/^[\w.-]{1,64}$/.test(values.run)) {
    throw new UsageError('--run takes letters, digits, ".", "_" and "-", at most 64');
  }
  if (values.batch && values.speed !== undefined)
    throw new UsageError('--batch has no speed: leave one of the two out');
  return {
    file,
    url,
    key,
    intent,
    run: values.run ?? '',
    batch: values.batch,
    ignoreControl: values['ignore-control'],
    limit: values.limit === undefined ? Number.POSITIVE_INFINITY : parseNumber(values.limit, 'limit', 1, 1e9),
    speed: values.speed === undefined ? null : parseNumber(values.speed, 'speed', 0.01, 10_000, false),
    concurrency: parseNumber(values.concurrency ?? '16', 'concurrency', 1, 256),
  };
}

/** @param {unknown} error @param {{ url: string }} options @returns {string} what happened and what to do about it */
function explain(error, { url }) {
  if (!(error instanceof AgentClientError)) return String(error instanceof Error ? error.message : error);
  if (error.status === null) {
    return `${error.message}\nNothing answers at ${url}. Start Observatory first (npm start), or name it with --url.`;
  }
  if (error.status === 401 || error.status === 403) {
    return `${error.message}\nCheck --key or OBSERVATORY_AGENT_KEY: it must be an agent key of that server, not an operator token.`;
  }
  return error.message;
}

/** @param {import('./lib/replay-run.mjs').ReplayOptions} options @returns {Promise<number>} exit status */
async function main(options) {
  const fileBytes = statSync(options.file).size;
  // Asked once, before anything is read: a wrong address should not take eight attempts to be noticed.
  await send(
    { url: options.url, key: options.key, attemptsMax: 2 },
    { method: 'GET', path: '/healthz', timeoutMs: 5_000 },
  );

  const summary = new ReplaySummary();
  const stop = new AbortController();
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const progress = new ProgressLine(() => {
    const done = summary.all.sessions;
    const waiting = replay.paused.size > 0 ? `  ${replay.paused.size} paused (${[...replay.paused][0]})` : '';
    return (
      `${bar(replay.doneFraction(fileBytes))} ${done}${Number.isFinite(options.limit) ? `/${options.limit}` : ''} traces  ` +
      `${Math.round(summary.stepCount / Math.max(seconds(), 0.001))} steps/s  ${replay.alertedCount} alerts${waiting}`
    );
  });
  const replay = new Replay(options, summary, { signal: stop.signal, onNote: (text) => progress.note(text) });
  const onSignal = () => stop.abort(new Error('stopped'));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);

  let failure = '';
  progress.start();
  try {
    await replay.run();
  } catch (error) {
    failure = explain(error, options);
  }
  progress.stop();
  process.removeListener('SIGINT', onSignal);
  process.removeListener('SIGTERM', onSignal);

  const interrupted = stop.signal.aborted || failure !== '';
  if (summary.stepCount > 0 || !failure) {
    process.stdout.write(formatSummary(summary, { seconds: seconds(), interrupted, intent: options.intent }));
  }
  if (!failure && summary.acceptedCount === 0 && !stop.signal.aborted) failure = 'nothing was accepted.';
  if (failure) process.stderr.write(`\nreplay: ${failure}\n`);
  if (stop.signal.aborted) return 130;
  return failure || summary.acceptedCount === 0 ? 1 : 0;
}

/** @type {ReturnType<typeof parseOptions>} */
let options = null;
try {
  options = parseOptions(process.argv.slice(2));
  if (options) process.exitCode = await main(options);
  else process.stdout.write(help);
} catch (error) {
  const wrongUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
  const text =
    options && !wrongUsage ? explain(error, options) : String(error instanceof Error ? error.message : error);
  process.stderr.write(`replay: ${text}\n${wrongUsage ? '\nnpm run replay -- --help says more.\n' : ''}`);
  process.exitCode = wrongUsage ? 2 : 1;
}
