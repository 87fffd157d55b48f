/**
 * Many live subscribers in one process: socket.io-client over WebSocket, each following one topic. A step carries the
 * microsecond at which its POST left (`tool_input.sent_us`, the machine's monotonic clock, which all processes share);
 * what is recorded is the time from there until this process had the frame's event in hand.
 */
import { io } from 'socket.io-client';
import { LatencyHistogram } from '../../scripts/lib/latency-histogram.mjs';
import { serve } from './helper.mjs';

const connectingAtOnce = 25;
const connectTimeoutMs = 60_000;

/** @type {import('socket.io-client').Socket[]} */
const sockets = [];
let latency = new LatencyHistogram();
/** @type {number[]} measured events per socket */
let received = [];
let cuts = 0;

const nowMicroseconds = () => Number(process.hrtime.bigint() / 1000n);

/** @param {{ url: string, token: string, topic: string }} target @param {number} index @returns {Promise<void>} */
function subscribe({ url, token, topic }, index) {
  return new Promise((resolve, reject) => {
    const socket = io(`${url}/live`, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth: { token, operator_id: `subscriber-${index}` },
    });
    sockets.push(socket);
    socket.on('connect_error', (error) => reject(new Error(`subscriber ${index}: ${error.message}`)));
    socket.on('disconnect', () => {
      cuts++;
    });
    socket.on('connect', () => {
      socket
        .timeout(connectTimeoutMs)
        .emit('subscribe', { topic }, (/** @type {Error | null} */ error, /** @type {any} */ ack) => {
          if (error || ack?.status !== 'ok')
            reject(new Error(`subscriber ${index}: ${error ?? JSON.stringify(ack)}`));
          else resolve();
        });
    });
    socket.on('frame', (/** @type {any} */ frame) => {
      const now = nowMicroseconds();
      for (const { payload } of frame.events) {
        const sent = payload.action?.tool_input?.sent_us;
        if (typeof sent !== 'number') continue;
        latency.record((now - sent) / 1000);
        received[index] = (received[index] ?? 0) + 1;
      }
    });
  });
}

serve({
  /** @param {{ url: string, token: string, topic: string, count: number }} target */
  async connect({ count, ...target }) {
    for (let from = 0; from < count; from += connectingAtOnce) {
      const size = Math.min(connectingAtOnce, count - from);
      await Promise.all(Array.from({ length: size }, (_, at) => subscribe(target, from + at)));
    }
  },
  reset() {
    latency = new LatencyHistogram();
    received = [];
    cuts = 0;
  },
  /** @returns {{ latency: { counts: number[], maxMs: number }, receivedMin: number, receivedMax: number, cuts: number }} */
  read() {
    const counts = sockets.map((_, at) => received[at] ?? 0);
    return {
      latency: latency.toJSON(),
      receivedMin: Math.min(...counts),
      receivedMax: Math.max(...counts),
      cuts,
    };
  },
});
