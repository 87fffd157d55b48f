/**
 * The limit of the cache bench: node:http, JSON.parse, one SHA-256 over the body, an answer from a Map. No tenant, no
 * guard, no record, no dialect.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { serve } from './helper.mjs';

const answer = JSON.stringify({
  id: 'chatcmpl-bare',
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
  usage: { prompt_tokens: 512, completion_tokens: 80, total_tokens: 592 },
});

/** @type {Map<string, string>} */
const answers = new Map();

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const text = (chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks)).toString();
    const { model } = JSON.parse(text);
    const key = createHash('sha256').update(model).update(text).digest('hex');
    let found = answers.get(key);
    if (found === undefined) {
      found = answer;
      answers.set(key, found);
    }
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(found),
    });
    response.end(found);
  });
});
server.keepAliveTimeout = 60_000;

serve({
  /** @returns {Promise<number>} the port */
  listen: () =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(address && typeof address === 'object' ? address.port : 0);
      });
    }),
});
