/**
 * Our cache by itself on the same bare server: canonical form, key, look-up, and the answer in the caller's dialect. What
 * the gateway's own figure has above it is identity, guards, record and session steps. Reads the built libraries.
 */
import { answerHeaders, cacheIdentity, MemoryLlmCache } from '#domain/llm-cache';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { systemClock } from '#kernel';
import { answerText, serveAnswers } from './answer-server.mjs';

const dialect = DIALECT_BY_NAME['openai-chat'];
const path = '/chat/completions';
const tenantId = 'default';
const upstream = 'openai https://api.openai.com/v1';
const hour = 3_600_000;
const cache = new MemoryLlmCache({
  clock: systemClock,
  entriesMax: 10_000,
  bytesMax: 256 * 1024 * 1024,
  exactTtlMs: hour,
  semanticTtlMs: hour,
});
let serial = 0;

serveAnswers((text, { rawHeaders }) => {
  const body = JSON.parse(text);
  const canonical = dialect.canonicalRequest(body, path, '');
  const identity = cacheIdentity(canonical, { tenantId, upstream, headers: answerHeaders(rawHeaders) });
  if (identity === null) throw new Error('a request of the bench has a key');
  const answer = (cache.getNow(tenantId, identity.key) ?? fill(identity.key)).entry.answer;
  serial += 1;
  const replay = dialect.writeReplay({ answer, body, path, id: `call-${serial}`, atMs: systemClock.nowMs() });
  if (replay === null) throw new Error('an answer of the bench can be replayed');
  return replay.body;
});

/** @param {string} key */
function fill(key) {
  cache.putNow({
    tenant_id: tenantId,
    key,
    scope: null,
    agent_id: 'bench',
    upstream: 'openai',
    prompt: '',
    vector: null,
    answer: {
      dialect: 'openai-chat',
      answer_id: null,
      model: 'gpt-4o-mini',
      text: answerText,
      tool_calls: [],
      finish: 'stop',
      usage: null,
    },
    created_at_ms: systemClock.nowMs(),
    cost_micro_usd: null,
    duration_ms: 1,
  });
  const hit = cache.getNow(tenantId, key);
  if (hit === null) throw new Error('what was put is there');
  return hit;
}
