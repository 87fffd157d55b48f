/**
 * Load generator in a process of its own: keep-alive connections over bare sockets, one request in flight on each, and
 * just enough of HTTP to find the end of an answer. Less work per request than a full client, because on few cores
 * what the generator takes is missing from the server; both sides of every ratio are driven by it alike.
 */
import { LatencyHistogram } from '../../scripts/lib/latency-histogram.mjs';
import { serve } from './helper.mjs';
import { RawConnection } from './raw-connection.mjs';
import { makeRequests, sessionCount } from './traffic.mjs';

/** @typedef {{ name: string, port: number, path: string, key: string, connections: number, linesPerBody: number, prefix: string }} LoadTarget */
/** @typedef {{ requests: number, seconds: number, perSecond: number, statuses: Record<string, number>, p50: number, p99: number, firstBad: string }} WindowResult */

/** @typedef {{ connection: RawConnection, next: () => Buffer }} Lane */

/** @type {Map<string, Lane[]>} */
const targets = new Map();

serve({
  /** Opens the connections of a target; they are kept until `close`. @param {LoadTarget} target */
  open({ name, port, path, key, connections, linesPerBody, prefix }) {
    const lanes = Array.from({ length: connections }, (_, lane) => ({
      connection: new RawConnection(port),
      next: makeRequests({
        sessions: Array.from({ length: sessionCount }, (__, session) => session).filter(
          (session) => session % connections === lane,
        ),
        prefix,
        linesPerBody,
        firstCounter: lane + 1,
        counterStride: connections,
        host: `127.0.0.1:${port}`,
        path,
        key,
      }),
    }));
    targets.set(name, lanes);
  },

  /** @param {string} name */
  close(name) {
    for (const { connection } of targets.get(name) ?? []) connection.close();
    targets.delete(name);
  },

  /**
   * Drives a target for some seconds: flat out, or at `perSecond` requests with as many connections as that takes.
   *
   * @param {{ name: string, seconds: number, perSecond?: number }} window
   * @returns {Promise<WindowResult>} latencies in ms
   */
  async run({ name, seconds, perSecond }) {
    const lanes = targets.get(name) ?? [];
    const latency = new LatencyHistogram();
    /** @type {Record<string, number>} */
    const statuses = {};
    let firstBad = '';
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1000;
    let begun = 0;
    /** When the next is due, on the same clock; null: no more. @param {number} now */
    const nextDueAt = (now) => {
      const dueAt = perSecond === undefined ? now : startedAt + (begun++ * 1000) / perSecond;
      return Math.max(now, dueAt) < endsAt ? dueAt : null;
    };
    const drive = (/** @type {Lane} */ { connection, next }) =>
      /** @type {Promise<void>} */ (
        new Promise((resolve, reject) => {
          let sentAt = 0;
          const send = () => {
            sentAt = performance.now();
            connection.send(next(), answered, reject);
          };
          const goOn = (/** @type {number} */ now) => {
            const dueAt = nextDueAt(now);
            if (dueAt === null) resolve();
            else if (dueAt > now) setTimeout(send, dueAt - now);
            else send();
          };
          const answered = (/** @type {number} */ status) => {
            const now = performance.now();
            latency.record(now - sentAt);
            statuses[status] = (statuses[status] ?? 0) + 1;
            if (status !== 202 && !firstBad) firstBad = connection.answerStart;
            goOn(now);
          };
          goOn(startedAt);
        })
      );
    await Promise.all(lanes.map(drive));
    const tookSeconds = (performance.now() - startedAt) / 1000;
    return {
      requests: latency.count,
      seconds: tookSeconds,
      perSecond: latency.count / tookSeconds,
      statuses,
      p50: latency.percentileMs(50) ?? Number.NaN,
      p99: latency.percentileMs(99) ?? Number.NaN,
      firstBad,
    };
  },
});
