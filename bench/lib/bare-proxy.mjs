/**
 * The limit of the proxy bench: node:http in, undici's dispatcher out, bytes passed on as they come. No key, no parse,
 * no guard, no record: what nobody who proxies in Node can go below.
 */
import { createServer } from 'node:http';
import { Agent } from 'undici';
import { listenLocally, serve } from './helper.mjs';

const agent = new Agent({ connections: 1_024 });
const passedOn = new Set(['content-type', 'authorization', 'user-agent']);
let origin = '';

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const headers = [];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      const name = /** @type {string} */ (request.rawHeaders[at]);
      if (passedOn.has(name.toLowerCase()))
        headers.push(name, /** @type {string} */ (request.rawHeaders[at + 1]));
    }
    /** @type {(() => void) | undefined} */
    let resumeUpstream;
    response.on('drain', () => resumeUpstream?.());
    agent.dispatch(
      {
        origin,
        path: request.url ?? '/',
        method: 'POST',
        headers,
        body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks),
      },
      {
        onConnect() {},
        onHeaders(status, raw, resume) {
          resumeUpstream = resume;
          const kept = [];
          for (let at = 0; at < raw.length; at += 2) {
            const name = String(raw[at]);
            if (!/^(connection|keep-alive|transfer-encoding)$/i.test(name))
              kept.push(name, String(raw[at + 1]));
          }
          response.writeHead(status, kept);
          return true;
        },
        onData: (chunk) => response.write(chunk),
        onComplete: () => response.end(),
        onError: () => response.destroy(),
      },
    );
  });
});
server.keepAliveTimeout = 60_000;

serve({
  /** @param {{ upstreamPort: number }} input @returns {Promise<number>} the port */
  listen: ({ upstreamPort }) => {
    origin = `http://127.0.0.1:${upstreamPort}`;
    return listenLocally(server);
  },
});
