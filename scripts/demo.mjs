/**
 * `npm run demo`: a gateway with its dashboard, six simulated agents that post their steps, one of them going in circles, and
 * three that only call a model through the proxy, one of which is stopped by the kill switch. All of them obey what an operator
 * does in the dashboard. Nothing leaves this machine; the data is thrown away at the end.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from './build-if-stale.mjs';
import { callers, runCallers } from './lib/demo-callers.mjs';
import { runCrew } from './lib/demo-crew.mjs';
import { openModel } from './lib/demo-model.mjs';
import { startGateway } from './lib/gateway-process.mjs';
import { isHttpUrl } from './lib/http-url.mjs';
import { requireNode } from './lib/node-version.mjs';
import { DEFAULT_URL, send } from './lib/observatory-agent.mjs';
import { shownText } from './lib/shown-text.mjs';

requireNode();

const help = `Observatory with simulated agents, one of them going in circles, and three more that call a simulated model.

  npm run demo -- [options]

  --agents N    how many post their steps (default 6: coder, planner, researcher, support, analyst, deployer), at most 600
  --rate N      N times human speed (default 1: a step every 0.5 to 3 s), at most 100
  --data DIR    keep the data in DIR (default: a temporary folder, removed at the end)
  --url URL     send the agents to a gateway that runs already, with --key or OBSERVATORY_AGENT_KEY; without those that
                call a model, which is this demo's own
  --key KEY
  --help

PORT (default 4000) is where the dashboard is. Ctrl-C stops everything.
`;

/** @param {string} text @param {string} name @param {number} min @param {number} max */
function parseNumber(text, name, min, max) {
  const value = Number(text);
  if (Number.isFinite(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} takes a number from ${min} to ${max}, not "${text}"`);
}

function parseOptions() {
  const { values } = parseArgs({
    options: {
      agents: { type: 'string', default: '6' },
      rate: { type: 'string', default: '1' },
      data: { type: 'string' },
      url: { type: 'string' },
      key: { type: 'string', default: process.env.OBSERVATORY_AGENT_KEY ?? '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.url !== undefined && !isHttpUrl(values.url))
    throw new TypeError(`--url takes a URL such as ${DEFAULT_URL}, not "${values.url}"`);
  if (values.url !== undefined && !values.key)
    throw new TypeError('--url needs --key or OBSERVATORY_AGENT_KEY');
  return {
    ...values,
    agents: Math.floor(parseNumber(values.agents, '--agents', 1, 600)),
    port: Math.floor(parseNumber(process.env.PORT || '4000', 'PORT', 0, 65_535)),
    rate: parseNumber(values.rate, '--rate', 0.01, 100),
  };
}

/** @param {ReturnType<typeof parseOptions>} options */
async function openGateway({ url, key, data, port, rate }) {
  if (url !== undefined) {
    await send({ url, key, attemptsMax: 2 }, { method: 'GET', path: '/healthz', timeoutMs: 5_000 });
    return {
      url,
      agentKey: key,
      login: url,
      hasModel: false,
      exited: new Promise(() => {}),
      stop: async () => {},
    };
  }
  await buildIfStale();
  if (data !== undefined) mkdirSync(data, { recursive: true });
  const model = await openModel({ rate });
  const gateway = await startGateway({
    port,
    env: { OBSERVATORY_UPSTREAM_OPENAI_URL: model.url, OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-demo' },
    ...(data === undefined ? {} : { dataDir: resolve(data) }),
    ...(key ? { agentKey: key } : {}),
    ...(process.env.OBSERVATORY_OPERATOR_TOKEN
      ? { operatorToken: process.env.OBSERVATORY_OPERATOR_TOKEN }
      : {}),
  });
  const stop = async () => {
    await gateway.stop();
    model.close();
  };
  return { ...gateway, stop, hasModel: true, login: `${gateway.url}/login#token=${gateway.operatorToken}` };
}

/** @param {ReturnType<typeof parseOptions>} options @returns {Promise<number>} exit status */
async function main(options) {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const onSignal = () => stop.abort(new Error('stopped'));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  process.once('SIGHUP', onSignal);

  // A reader that has left, or a full disk, takes the lines and not the demo.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  const gateway = await openGateway(options);
  const counts = { steps: 0, loops: 0, calls: 0 };
  const say = (/** @type {string} */ text) =>
    process.stdout.write(`${new Date().toTimeString().slice(0, 8)}  ${shownText(text)}\n`);
  let exitStatus = 0;
  gateway.exited.then(() => {
    if (stop.signal.aborted) return;
    process.stderr.write('demo: the gateway has ended; stopping the agents.\n');
    exitStatus = 1;
    stop.abort(new Error('the gateway has ended'));
  });
  const callerCount = gateway.hasModel ? callers.length : 0;
  process.stdout.write(
    `\n  Observatory demo, ${options.agents + callerCount} agents\n\n  Open  ${gateway.login}\n\n` +
      '  In a moment coder-1 goes in circles: pause it, inject a hint, resume, and watch it leave the loop.\n' +
      (gateway.hasModel
        ? '  price-watch calls a model through the proxy, asks the same again and again, and is stopped: see Incidents.\n'
        : '') +
      '  Ctrl-C stops everything.\n\n',
  );
  const stage = {
    url: gateway.url,
    key: gateway.agentKey,
    rate: options.rate,
    signal: stop.signal,
    say,
    onStep: (/** @type {string} */ severity) => {
      counts.steps++;
      if (severity === 'loop') counts.loops++;
    },
    onCall: () => {
      counts.calls++;
    },
  };
  try {
    await Promise.all([runCrew(options.agents, stage), ...(gateway.hasModel ? [runCallers(stage)] : [])]);
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : error}\n`);
    exitStatus = 1;
    stop.abort(error);
  }
  await gateway.stop();
  process.removeListener('SIGINT', onSignal);
  process.removeListener('SIGTERM', onSignal);
  process.removeListener('SIGHUP', onSignal);
  process.stdout.write(
    `\nStopped after ${counts.steps} steps, ${counts.loops} of them in a loop, and ${counts.calls} calls of a model.\n`,
  );
  return exitStatus;
}

try {
  const options = parseOptions();
  if (options.help) process.stdout.write(help);
  else process.exitCode = await main(options);
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  const remedy = /EADDRINUSE/.test(text)
    ? '\nThe port is taken: set PORT to another one, or send the agents to what runs there with --url and --key.'
    : '';
  process.stderr.write(`demo: ${text}${remedy}\n`);
  process.exitCode = 1;
}
