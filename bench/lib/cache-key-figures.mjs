/** What the LLM cache's key costs: the canonical form of a parsed request and its digests. */
import { hash } from 'node:crypto';
import { answerHeaders, cacheIdentity } from '#domain/llm-cache';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { isQuick } from './quick.mjs';
import { formatNumber, median, medianRatio, percentile } from './statistics.mjs';

/** @typedef {import('./figures.mjs').Figure} Figure */

const keyAimUs = 500;
const bytesAim = 100_000;
/** Requests taken in turn, so that none is in the caches because it has just been there. */
const poolCount = 16;
const where = {
  tenantId: 'tenant',
  upstream: 'openai',
  headers: answerHeaders(['OpenAI-Beta', 'assistants=v2', 'Accept', 'application/json']),
};
const words =
  'the agent reads a file and writes another one before it asks what the next step of this task is'.split(
    ' ',
  );

/** @param {number} length @param {number} seed */
function textOf(length, seed) {
  let text = '';
  for (let at = seed; text.length < length; at += 7) text += `${words[at % words.length]} `;
  return text;
}

/** A conversation with tools, of about 100 kB. @param {number} seed @param {number} chars of one message @param {string} mark beyond Latin-1, if not "" */
function requestOf(seed, chars, mark) {
  /** @type {object[]} */
  const messages = [{ role: 'system', content: `You are an agent. ${mark}${textOf(2_000, seed)}` }];
  let size = 2_000;
  for (let turn = 0; size < bytesAim; turn++) {
    const id = `call_${seed}_${turn}`;
    messages.push(
      { role: 'user', content: [{ type: 'text', text: mark + textOf(chars, seed + turn) }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id, type: 'function', function: { name: 'read', arguments: `{"path":"/a/${turn}"}` } },
        ],
      },
      { role: 'tool', tool_call_id: id, content: mark + textOf(chars, seed + turn + 3) },
    );
    size = Buffer.byteLength(JSON.stringify(messages));
  }
  messages.push({ role: 'user', content: 'What comes next?' });
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  return {
    model: 'gpt-4o-mini',
    temperature: 0,
    stream: true,
    messages,
    tools: [{ type: 'function', function: { name: 'read', parameters } }],
  };
}

/** @param {number} chars @param {string} mark */
function time(chars, mark) {
  const pool = Array.from({ length: poolCount }, (_, seed) => requestOf(seed, chars, mark));
  const texts = pool.map((request) => JSON.stringify(request));
  const dialect = DIALECT_BY_NAME['openai-chat'];
  /** @type {{ keyUs: number[], formUs: number[], hashUs: number[] }} */
  const times = { keyUs: [], formUs: [], hashUs: [] };
  for (let round = -poolCount * 4; round < (isQuick ? 200 : 3_000); round++) {
    // Parsed anew, as the gateway has it: strings of a new request have not been looked at before.
    const request = JSON.parse(/** @type {string} */ (texts[Math.abs(round) % poolCount]));
    const began = performance.now();
    const canonical = dialect.canonicalRequest(request, '/chat/completions');
    const formed = performance.now();
    const scope = cacheIdentity(canonical, where)?.scope();
    const keyed = performance.now();
    hash('sha256', /** @type {string} */ (texts[Math.abs(round) % poolCount]));
    const hashed = performance.now();
    if (!scope) throw new Error('the request has no key');
    if (round < 0) continue;
    times.keyUs.push((keyed - began) * 1_000);
    times.formUs.push((formed - began) * 1_000);
    times.hashUs.push((hashed - keyed) * 1_000);
  }
  return times;
}

/** @returns {Figure[]} */
export function cacheKeyFigures() {
  return /** @type {const} */ ([
    ['messages of 2,000 characters', 2_000, ''],
    ['messages of 200 characters', 200, ''],
    ['messages of 2,000 characters, not Latin', 2_000, 'Поезд 🚆 '],
  ]).map(([title, chars, mark]) => {
    const { keyUs, formUs, hashUs } = time(chars, mark);
    const p50 = median(keyUs);
    return {
      title: `cache key and scope of a request of 100 kB, ${title}, p50`,
      measured: `${formatNumber(p50)} us`,
      aim: `below ${keyAimUs} us`,
      ok: p50 < keyAimUs,
      absolutes: `p99 ${formatNumber(percentile(keyUs, 99))} us, fastest ${formatNumber(percentile(keyUs, 0))} us; ${formatNumber(medianRatio(keyUs, hashUs))} of a SHA-256 of its JSON text (${formatNumber(median(hashUs))} us); of it the canonical form ${formatNumber(median(formUs))} us`,
    };
  });
}
