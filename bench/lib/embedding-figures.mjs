/**
 * What an embedder costs beside the bare onnxruntime call for the same tokens: the way to the thread and back, the
 * tokenising and the pooling. Both are timed in turn, so that what slows the machine slows both. Reads the built
 * libraries.
 */
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { openOnnxEmbedder } from '#adapters/onnx';
import { StaticFeaturiser } from '#domain/embedding';
import { seededIndex } from '../../scripts/lib/seeded-random.mjs';
import { openHelper } from './helper.mjs';
import { isQuick } from './quick.mjs';
import { formatNumber, percentile } from './statistics.mjs';

/** @typedef {import('./figures.mjs').BenchResult} BenchResult */
/** @typedef {{ words: number, tokens: number, embedMs: number[], bareMs: number[], echoMs: number[], freshMs: number[] }} Row
 *   `echoMs`: empty without `ping`; `freshMs`: of the shortest texts, the first ones that the embedder was ever given */
/** @typedef {(text: string) => Record<string, Tensor>} Feeds */

const repository = fileURLToPath(new URL('../..', import.meta.url));
const sharedModels = join(process.env.OBSERVATORY_SHARED ?? resolve(repository, '../shared'), 'models');
const sizes = [8, 32, 128];
/**
 * Before the first timed one. What stands around the model is JavaScript: with 500 of them, as few as once were made,
 * CheckLoop of 8 tokens took 0.3 ms more than with 2,000, and hardly less with 15,000.
 */
const warmUpCalls = isQuick ? 500 : 5_000;
/** Of the warm-up, told beside the rest: what the first askers after a start wait. */
const freshCalls = 500;
const overBareAim = 1.1;
const overBareMs = 0.3;
/** What the requirement gives a text of `budgetTokens`, and the whole check. */
const budgetTokens = 128;
const embedBudgetMs = 10;
export const checkBudgetMs = 30;
/** About a question's. */
const echoBytes = 200;

/** One word piece each. */
const pieces =
  'the order of this customer was late so we must send money back and ask them about it again'.split(' ');
/** As many different words as texts have. */
const prose = readFileSync(join(repository, 'README.md'), 'utf8').match(/[A-Za-z]+/g) ?? pieces;

/**
 * @param {string[]} words
 * @param {number} count
 * @param {number} round
 * @returns {string} another text every round, however few the words: one that came before would be remembered
 */
function textOf(words, count, round) {
  const index = seededIndex(round);
  return Array.from({ length: count }, () => words[index(words.length)]).join(' ');
}

/** @param {ArrayLike<number>} ids */
const row = (ids) =>
  new Tensor(
    'int64',
    BigInt64Array.from(Array.from(ids), (id) => BigInt(id)),
    [1, ids.length],
  );

/**
 * @param {Timed} embedder
 * @param {InferenceSession} session
 * @param {Feeds} feedsOf
 * @param {{ rounds: number, words: string[], inputName: string, extraTokens: number, ping?: () => Promise<void> }} options
 *   `ping`: there and back over a bare socket, timed as cold as the embedder's own way is after a text's computation
 * @returns {Promise<Row[]>}
 */
async function measure(embedder, session, feedsOf, { rounds, words, inputName, extraTokens, ping }) {
  const timeOne = async (/** @type {string} */ text) => {
    const feeds = feedsOf(text);
    const startMs = performance.now();
    await embedder.embed(text);
    const embeddedMs = performance.now();
    await session.run(feeds);
    const endMs = performance.now();
    await ping?.();
    return {
      tokens: feeds[inputName]?.dims[1] ?? 0,
      embedMs: embeddedMs - startMs,
      bareMs: endMs - embeddedMs,
      echoMs: performance.now() - endMs,
    };
  };
  const freshMs = [];
  for (let call = 0; call < warmUpCalls; call += 1) {
    const { embedMs } = await timeOne(textOf(words, Math.min(...sizes) - extraTokens, 2 * rounds + call));
    if (call < freshCalls) freshMs.push(embedMs);
  }
  /** @type {Row[]} */
  const rows = [];
  for (const size of sizes) {
    const count = size - extraTokens;
    const timed = [];
    for (let round = 0; round < rounds; round += 1)
      timed.push(await timeOne(textOf(words, count, round + rounds)));
    rows.push({
      words: count,
      tokens: timed.at(-1)?.tokens ?? 0,
      embedMs: timed.map(({ embedMs }) => embedMs),
      bareMs: timed.map(({ bareMs }) => bareMs),
      echoMs: ping ? timed.map(({ echoMs }) => echoMs) : [],
      freshMs: size === Math.min(...sizes) ? freshMs : [],
    });
  }
  return rows;
}

const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, enableMemPattern: false };

/** @param {number} rounds @returns {Promise<Row[]>} */
async function measureStatic(rounds) {
  const file = createRequire(import.meta.url).resolve(
    '#models/observatory-static-384/observatory-static-384.onnx',
  );
  const session = await InferenceSession.create(file, sessionOptions);
  const featuriser = new StaticFeaturiser();
  const embedder = await openOnnxEmbedder({ model: { kind: 'static' } });
  const feedsOf = (/** @type {string} */ text) => ({ bucket_ids: row(featuriser.features(text)) });
  const rows = await measure(embedder, session, feedsOf, {
    rounds,
    words: prose,
    inputName: 'bucket_ids',
    extraTokens: 0,
  });
  await embedder.close();
  await session.release();
  return rows;
}

/** What is timed against the bare call. @typedef {{ embed: (text: string) => Promise<unknown>, close: () => Promise<void> }} Timed */

const modelFile = 'model_int8.onnx';

/**
 * @template T
 * @param {(folder: string) => Promise<T>} use given a folder with MiniLM's tokenizer and a model of its shape, gone afterwards
 * @returns {Promise<T | null>} null where the shared files are absent
 */
export async function withMinilm(use) {
  const model = join(sharedModels, 'minilm-shape-random', modelFile);
  if (!existsSync(model)) return null;
  const folder = mkdtempSync(join(tmpdir(), 'observatory-bench-'));
  try {
    for (const name of ['tokenizer.json', 'tokenizer_config.json'])
      cpSync(join(sharedModels, 'all-MiniLM-L6-v2', name), join(folder, name));
    cpSync(model, join(folder, modelFile));
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {number} rounds
 * @param {string} folder of the model
 * @param {(folder: string) => Promise<Timed>} open on that folder
 * @returns {Promise<Row[]>}
 */
async function measureMinilm(rounds, folder, open) {
  const json = (/** @type {string} */ name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'));
  const session = await InferenceSession.create(join(folder, modelFile), sessionOptions);
  const embedder = await open(folder);
  /** @type {Feeds} */
  const feedsOf = (text) => {
    /** @type {number[]} */
    const ids = tokenizer.encode(text).ids;
    return {
      input_ids: row(ids),
      attention_mask: row(ids.map(() => 1)),
      token_type_ids: row(ids.map(() => 0)),
    };
  };
  const echo = await openEcho(join(folder, 'echo.sock'));
  const rows = await measure(embedder, session, feedsOf, {
    rounds,
    words: pieces,
    inputName: 'input_ids',
    extraTokens: 2,
    ping: echo.ping,
  });
  echo.close();
  await embedder.close();
  await session.release();
  return rows;
}

/** @param {string} path of a socket, to be made */
async function openEcho(path) {
  const helper = openHelper(new URL('./socket-echo.mjs', import.meta.url));
  await helper.call('listen', path);
  const socket = connect(path);
  await once(socket, 'connect');
  const message = Buffer.alloc(echoBytes);
  return {
    ping: async () => {
      const heard = once(socket, 'data');
      socket.write(message);
      await heard;
    },
    close: () => {
      socket.destroy();
      helper.close();
    },
  };
}

/**
 * @param {string} title
 * @param {Row} row
 * @param {{ unit: string, withAim: boolean }} how the issue sets an aim for a model of MiniLM's size
 */
function figureOf(title, { words: count, tokens, embedMs, bareMs, echoMs, freshMs }, { unit, withAim }) {
  const [p50, p99, bare] = [percentile(embedMs, 50), percentile(embedMs, 99), percentile(bareMs, 50)];
  const allowedMs = overBareAim * bare + overBareMs;
  const echo = withAim
    ? `; an echo over a bare socket, as cold, ${formatNumber(percentile(echoMs, 50))} ms`
    : '';
  const fresh =
    freshMs.length > 0
      ? `; the first ${freshMs.length} calls after its start p50 ${formatNumber(percentile(freshMs, 50))} ms`
      : '';
  return {
    title: `${title}, ${count} words: p50 / bare onnxruntime call`,
    measured: formatNumber(p50 / bare),
    aim: withAim ? `at most ${overBareAim} and ${overBareMs} ms (${formatNumber(allowedMs)} ms)` : '-',
    ok: withAim ? p50 <= allowedMs : null,
    absolutes: `p50 ${formatNumber(p50)} ms, p99 ${formatNumber(p99)} ms; bare ${formatNumber(bare)} ms, ${tokens} ${unit}${echo}${fresh}`,
  };
}

export const minilmTitle = 'MiniLM shape, int8, random weights';

/** @param {{ rounds: number }} options texts timed for each size @returns {Promise<BenchResult>} the embedders by themselves */
export async function measureEmbedding({ rounds }) {
  const figures = (await measureStatic(rounds)).map((row) =>
    figureOf('static, embed', row, { unit: 'features', withAim: false }),
  );
  const open = (/** @type {string} */ path) => openOnnxEmbedder({ model: { kind: 'minilm', path } });
  const minilm = await withMinilm((folder) => measureMinilm(Math.ceil(rounds / 2), folder, open));
  if (minilm === null)
    return { figures, notes: [`MiniLM was not measured: ${sharedModels} is not at hand.`] };
  for (const row of minilm)
    figures.push(figureOf(`${minilmTitle}, embed`, row, { unit: 'tokens', withAim: false }));
  return { figures: [...figures, budgetFigure(`${minilmTitle}, embed`, minilm, embedBudgetMs)] };
}

/**
 * @param {string} title
 * @param {Row[]} rows
 * @param {number} budgetMs
 */
function budgetFigure(title, rows, budgetMs) {
  const row = rows.find(({ tokens }) => tokens === budgetTokens);
  const [p50, bare] = [percentile(row?.embedMs ?? [], 50), percentile(row?.bareMs ?? [], 50)];
  return {
    title: `${title}, ${budgetTokens} tokens: p50`,
    measured: `${formatNumber(p50)} ms`,
    aim: `below the budget of ${formatNumber(budgetMs)} ms`,
    ok: p50 < budgetMs,
    absolutes: `the bare onnxruntime call alone, on one core of this machine, ${formatNumber(bare)} ms`,
  };
}

/**
 * The same for whatever stands in front of the model, such as the sidecar's CheckLoop.
 *
 * @param {{ rounds: number, what: string, open: (folder: string) => Promise<Timed> }} options
 * @returns {Promise<BenchResult>} no figures where the shared files are absent
 */
export async function measureMinilmThrough({ rounds, what, open }) {
  const rows = await withMinilm((folder) => measureMinilm(rounds, folder, open));
  if (rows === null) return { figures: [] };
  const figures = rows.map((row) =>
    figureOf(`${minilmTitle}, ${what}`, row, { unit: 'tokens', withAim: true }),
  );
  return { figures: [...figures, budgetFigure(`${minilmTitle}, ${what}`, rows, checkBudgetMs)] };
}
