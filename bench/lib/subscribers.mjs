/**
 * Many live subscribers in one process: socket.io-client over WebSocket, each following one topic. A step carries the
 * microsecond at which its POST left (`tool_input.sent_us`, the machine's monotonic clock, which all processes share);
 * what is recorded is the time from there until this process had the frame's event in hand.
 *
 * A frame is searched for those numbers and not made into objects: a thousand real subscribers would spend that time on
 * a thousand other machines, and here it would be taken from the server.
 */
import { Manager } from 'socket.io-client';
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

/** How a frame on `/live` begins on the wire: packet type, namespace, event name. */
const frameStart = '2/live,["frame",';
const sentField = '"sent_us":';

/** @param {string} packet @param {number} index */
function recordFrame(packet, index) {
  const now = nowMicroseconds();
  for (let at = packet.indexOf(sentField); at >= 0; at = packet.indexOf(sentField, at + 1)) {
    const sent = Number.parseInt(packet.slice(at + sentField.length, at + sentField.length + 20), 10);
    latency.record((now - sent) / 1000);
    received[index] = (received[index] ?? 0) + 1;
  }
}

/** @param {{ url: string, token: string, topic: string }} target @param {number} index @returns {Promise<void>} */
function subscribe({ url, token, topic }, index) {
  return new Promise((resolve, reject) => {
    const manager = new Manager(url, { transports: ['websocket'], forceNew: true, reconnection: false });
    const { decoder } = /** @type {any} */ (manager);
    const decode = decoder.add.bind(decoder);
    decoder.add = (/** @type {unknown} */ packet) => {
      if (typeof packet === 'string' && packet.startsWith(frameStart)) recordFrame(packet, index);
      else decode(packet);
    };
    const socket = manager.socket('/live', { auth: { token, operator_id: `subscriber-${index}` } });
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
