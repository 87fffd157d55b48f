/**
 * The upstream of the detection bench: answers each chat completion with what the model answered in the recording. Which
 * step that is stands in a header of the request, so that it need not be guessed from the messages.
 */
import { createServer } from 'node:http';
import { completionOf } from './detection-chat.mjs';
import { readTraces } from './detection-traces.mjs';
import { listenLocally, serve } from './helper.mjs';

const traces = readTraces();

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const [trace = -1, at = -1, wire] = String(request.headers['x-recorded-step']).split('.');
    const recorded = traces[Number(trace)];
    if (!recorded?.steps[Number(at)]) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no such recorded step"}}');
      return;
    }
    const body = completionOf(recorded, Number(at), wire === 'text' ? 'text' : 'tools');
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;

serve({
  /** @returns {Promise<number>} the port */
  listen: () => listenLocally(server),
});
