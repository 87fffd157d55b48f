/**
 * A client that takes the gateway for a forward proxy (`HTTPS_PROXY`), and asks it for a tunnel that no guard could read. Node
 * closes such a connection without a word.
 */
import type { Server } from 'node:http';
import { ObservatoryError } from '#contracts';
import { API_HEADERS } from './errors/security-headers.js';
import { answerAhead } from './realtime/ignore-upgrades.js';

const BODY = JSON.stringify(
  new ObservatoryError(
    'invalid_request',
    'This is no forward proxy, and opens no tunnels. Leave HTTPS_PROXY alone and give your client a base URL: /proxy/openai/v1, /proxy/anthropic, /proxy/gemini, /proxy/<name>/v1.',
  ).toAnswer(),
);

/** Of such a refusal most clients show this line alone. */
const STATUS_LINE = 'HTTP/1.1 400 This is no forward proxy: give your client its base URL instead';

const ANSWER = [
  STATUS_LINE,
  ...Object.entries(API_HEADERS).map(([name, value]) => `${name}: ${value}`),
  'content-type: application/json; charset=utf-8',
  `content-length: ${Buffer.byteLength(BODY)}`,
  'connection: close',
  '',
  BODY,
].join('\r\n');

export function refuseConnect(server: Server): void {
  server.on('connect', (_request, socket) => {
    // Node listens to it no more.
    socket.on('error', () => socket.destroy());
    // In the midst of the answer to a request that was sent ahead, ours would be taken for its rest.
    if (answerAhead(socket) !== null) socket.destroy();
    else socket.end(ANSWER, () => socket.destroy());
  });
}
