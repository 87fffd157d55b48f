/**
 * The upstream of the proxy bench: answers every chat completion at once with the same 700 bytes, or streams a first
 * token and, a moment later, the rest. Bare node:http, so that it takes little from what is measured.
 */
import { createServer } from 'node:http';
import { listenLocally, serve } from './helper.mjs';

const streamPauseMs = 4;
const whole = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-4o-mini',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content: 'The answer depends on what one measures, and against what. '.repeat(6),
      },
    },
  ],
  usage: {
    prompt_tokens: 512,
    completion_tokens: 80,
    total_tokens: 592,
    prompt_tokens_details: { cached_tokens: 128 },
  },
});
const event = (/** @type {object} */ choice) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [choice] })}\n\n`;
const firstToken = event({ index: 0, delta: { role: 'assistant', content: 'The' }, finish_reason: null });
const rest =
  event({ index: 0, delta: { content: ' answer.' }, finish_reason: null }) +
  event({ index: 0, delta: {}, finish_reason: 'stop' }) +
  'data: [DONE]\n\n';

let received = 0;
const server = createServer((request, response) => {
  let isStream = false;
  let begun = false;
  request.on('data', (chunk) => {
    // The flag stands at the very front of the bodies the load generator writes.
    if (!begun) isStream = chunk.includes('"stream":true');
    begun = true;
  });
  request.on('end', () => {
    received += 1;
    if (!isStream) {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(whole),
      });
      response.end(whole);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(firstToken);
    setTimeout(() => response.end(rest), streamPauseMs);
  });
});
server.keepAliveTimeout = 60_000;

serve({
  /** @returns {Promise<number>} the port */
  listen: () => listenLocally(server),
  /** Requests that arrived here so far. */
  received: () => received,
});
