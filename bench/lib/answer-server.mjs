/** A server that answers each POST with a JSON text made of its body's, and does nothing besides: bare node:http. */
import { createServer } from 'node:http';
import { listenLocally, serve } from './helper.mjs';

/** The answer of a model, 700 bytes. */
export const answerText = 'The answer depends on what one measures, and against what. '.repeat(6);

/** @param {(body: string, request: import('node:http').IncomingMessage) => string} answerOf */
export function serveAnswers(answerOf) {
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const [first] = chunks;
      const body = chunks.length === 1 && first ? first : Buffer.concat(chunks);
      const answer = answerOf(body.toString(), request);
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  serve({
    /** @returns {Promise<number>} the port */
    listen: () => listenLocally(server),
  });
}
