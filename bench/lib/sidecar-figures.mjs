/**
 * CheckLoop and Embed over the socket, as the gateway calls them: one stream, this process the client, the built
 * sidecar the server, its store in its own memory. Every text is new, so nothing comes from the memo; what is
 * subtracted or compared is measured in the same run. Run alone for a look:
 *
 *     node bench/lib/sidecar-figures.mjs [calls]
 *     LOOP_EMBEDDING_MODEL_PATH=<folder of a model> node bench/lib/sidecar-figures.mjs
 */
import { pathToFileURL } from 'node:url';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { SidecarClient } from '#adapters/grpc';
import { seededIndex } from '../../scripts/lib/seeded-random.mjs';
import { readUsage } from './machine.mjs';
import { startSidecar } from './sidecar-process.mjs';
import { formatNumber, percentile } from './statistics.mjs';

const warmUpCalls = 300;
const inFlightCount = 32;
const sessionCount = 200;
const patient = { timeoutMs: 30_000, traceParent: null };

const words = (
  'please show list find compare update report invoice customer order delivery weather flight berlin city table ' +
  'error build test deploy server memory token price summary translate explain write code function file search'
).split(' ');

/** A sentence of `wordCount` words that no other call has. @param {number} serial @param {number} wordCount */
function sentenceOf(serial, wordCount) {
  const index = seededIndex(serial);
  const picked = Array.from({ length: wordCount - 1 }, () => words[index(words.length)]);
  return `${picked.join(' ')} ${serial}`;
}

/**
 * @param {(serial: number) => Promise<unknown>} call
 * @param {number} count
 * @param {number} inFlight
 * @returns {Promise<{ p50: number, p99: number, perSecond: number }>} milliseconds of one call
 */
async function timeCalls(call, count, inFlight) {
  /** @type {number[]} */
  const times = [];
  let serial = 0;
  const startedMs = performance.now();
  const lane = async () => {
    while (serial < count) {
      const beganMs = performance.now();
      await call(serial++);
      times.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - startedMs) / 1_000;
  return { p50: percentile(times, 50), p99: percentile(times, 99), perSecond: count / seconds };
}

/** @param {string} socketPath */
export async function connectSidecar(socketPath) {
  /** @type {(value?: unknown) => void} */
  let ready = () => {};
  const isReady = new Promise((resolve) => {
    ready = resolve;
  });
  const client = new SidecarClient({ socketPath, onState: (state) => state && ready() });
  await isReady;
  return client;
}

/** CheckLoop as a unary call, for comparison. @param {string} socketPath */
function openUnary(socketPath) {
  const file = new URL(import.meta.resolve('#proto/observatory/embedding/v1/embedding.proto'));
  /** @type {any} */
  const loaded = loadPackageDefinition(loadSync(file.pathname, { keepCase: true }));
  const client = new loaded.observatory.embedding.v1.EmbeddingService(
    `unix:${socketPath}`,
    credentials.createInsecure(),
  );
  return {
    check: (/** @type {object} */ request) =>
      new Promise((resolve, reject) => {
        client.CheckLoop(request, (/** @type {Error | null} */ error, /** @type {unknown} */ value) =>
          error === null ? resolve(value) : reject(error),
        );
      }),
    close: () => client.close(),
  };
}

/**
 * @param {{ calls?: number, wordCount?: number, env?: Record<string, string> }} [options]
 * @returns what one call costs, in milliseconds, and what the sidecar's memory did meanwhile
 */
export async function measureSidecar({ calls = 3_000, wordCount = 16, env = {} } = {}) {
  const sidecar = await startSidecar({ LOOP_QUEUE_MAX: '4096', ...env });
  const client = await connectSidecar(sidecar.socketPath);
  const unary = openUnary(sidecar.socketPath);
  let serial = 0;
  const query = () => {
    serial += 1;
    return {
      tenant_id: 'bench',
      session_id: `session-${serial % sessionCount}`,
      request_id: `${serial}`,
      prompt: sentenceOf(serial, wordCount),
      threshold: null,
    };
  };
  const check = () => client.checkLoop(query(), patient);
  const fixed = 'the same text again and again';
  try {
    await timeCalls(check, warmUpCalls, 1);
    const { residentBytes: bytesBefore } = readUsage(sidecar.pid);
    const checkAlone = await timeCalls(check, calls, 1);
    const checkTogether = await timeCalls(check, calls, inFlightCount);
    const embedAlone = await timeCalls(
      () => client.embed(sentenceOf(++serial, wordCount), patient),
      calls,
      1,
    );
    // From the memo: what is left is the way there and back.
    const wayAlone = await timeCalls(() => client.embed(fixed, patient), calls, 1);
    const unaryAlone = await timeCalls(
      () => {
        const { threshold: _, ...request } = query();
        return unary.check(request);
      },
      calls,
      1,
    );
    const { residentBytes } = readUsage(sidecar.pid);
    const { model_id } = await client.describe(patient);
    return {
      model_id,
      wordCount,
      checkAlone,
      checkTogether,
      embedAlone,
      wayAlone,
      unaryAlone,
      bytesBefore,
      residentBytes,
    };
  } finally {
    unary.close();
    await client.close();
    await sidecar.stop();
  }
}

/** Instead of an hour, so that within the measurement sessions are forgotten as they are over many hours. */
const forgottenAfter = '3s';

/**
 * As many checks as hours bring, over sessions that come and go.
 *
 * What the resident memory grows by is no leak: at 4,000 checks a second a forced collection left 24 MB of heap and 20 MB
 * of vectors, those of the last three seconds, at the end of each quarter, while between collections V8 let both grow to
 * twice that and more. It got there in 50,000 to 70,000 checks; 288,000 ended at 322 MB where 72,000 had been at 315 MB. A faster machine
 * remembers more.
 *
 * @param {number} count
 * @returns resident bytes at the end of each quarter, and the last of them over the second
 */
export async function measureMemory(count) {
  const sidecar = await startSidecar({ LOOP_QUEUE_MAX: '4096', LOOP_EMBEDDING_TTL: forgottenAfter });
  const client = await connectSidecar(sidecar.socketPath);
  const sessions = Math.ceil(count / 6);
  let serial = 0;
  const check = () => {
    serial += 1;
    return client.checkLoop(
      {
        tenant_id: `tenant-${serial % 50}`,
        session_id: `session-${Math.floor(serial / 6)}`,
        request_id: `${serial}`,
        prompt: sentenceOf(serial, 8 + (serial % 60)),
        threshold: null,
      },
      patient,
    );
  };
  try {
    const quarters = [];
    for (let quarter = 0; quarter < 4; quarter += 1) {
      await timeCalls(check, count / 4, 8);
      quarters.push(readUsage(sidecar.pid).residentBytes);
    }
    return { quarters, sessions, forgottenAfter, growth: (quarters[3] ?? 0) / (quarters[1] ?? 1) };
  } finally {
    await client.close();
    await sidecar.stop();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = await measureSidecar({ calls: Number(process.argv[2] ?? 3_000) });
  const line = (
    /** @type {string} */ name,
    /** @type {{ p50: number, p99: number, perSecond: number }} */ figures,
  ) =>
    process.stdout.write(
      `${name}: p50 ${formatNumber(figures.p50)} ms, p99 ${formatNumber(figures.p99)} ms, ${formatNumber(figures.perSecond)}/s\n`,
    );
  process.stdout.write(`${found.model_id}, texts of ${found.wordCount} words\n`);
  line('CheckLoop over the stream', found.checkAlone);
  line(`CheckLoop, ${inFlightCount} in flight`, found.checkTogether);
  line('Embed over the stream', found.embedAlone);
  line('there and back, a text from the memo', found.wayAlone);
  line('CheckLoop as a unary call', found.unaryAlone);
  const megabytes = (/** @type {number} */ bytes) => formatNumber(bytes / 1024 ** 2);
  process.stdout.write(
    `resident: ${megabytes(found.bytesBefore)} MB, then ${megabytes(found.residentBytes)} MB\n`,
  );
}
