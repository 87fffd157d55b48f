/**
 * A subscriber that stops reading: WebSocket and Engine.IO by hand over a bare socket, so that it can be paused where it
 * hurts, below every library that would go on reading. It subscribes, waits for its snapshot, and freezes.
 */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const answerTimeoutMs = 10_000;

/** @param {string} text @returns {Buffer} one masked text frame of less than 64 KiB */
function encodeFrame(text) {
  const payload = Buffer.from(text);
  const mask = randomBytes(4);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  const masked = payload.map((byte, at) => byte ^ /** @type {number} */ (mask[at % 4]));
  return Buffer.concat([head, mask, masked]);
}

export class FrozenSubscriber {
  #socket;
  #seen = '';
  #bytes = 0;
  closed = false;

  /** @param {number} port */
  constructor(port) {
    this.#socket = connect({ port, host: '127.0.0.1' });
    this.#socket.on('data', (chunk) => {
      this.#bytes += chunk.length;
      if (this.#seen.length < 1_000_000) this.#seen += chunk.toString('latin1');
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.closed = true;
    });
  }

  /** @param {string} host @param {string} token @param {string} topic @returns {Promise<void>} subscribed, then frozen */
  async subscribeAndFreeze(host, token, topic) {
    this.#socket.write(
      [
        'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
        `Host: ${host}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        '',
        '',
      ].join('\r\n'),
    );
    await this.#expect('"sid"');
    this.#socket.write(encodeFrame(`40/live,${JSON.stringify({ token, operator_id: 'frozen' })}`));
    await this.#expect('40/live,{"sid"');
    this.#socket.write(encodeFrame(`42/live,0${JSON.stringify(['subscribe', { topic }])}`));
    await this.#expect('43/live,0[');
    this.#socket.pause();
  }

  /** Reads on, to learn whether the server still wants it. @param {number} withinMs @returns {Promise<boolean>} true: it was cut */
  async thawAndFindOut(withinMs) {
    this.#socket.resume();
    for (let waitedMs = 0; waitedMs < withinMs && !this.closed; waitedMs += 50) await sleep(50);
    const cut = this.closed;
    this.#socket.destroy();
    return cut;
  }

  /** What it took from the wire before it froze and after it thawed. */
  get bytesRead() {
    return this.#bytes;
  }

  /** @param {string} text */
  async #expect(text) {
    for (let waitedMs = 0; waitedMs < answerTimeoutMs; waitedMs += 10) {
      if (this.#seen.includes(text)) return;
      if (this.closed) break;
      await sleep(10);
    }
    throw new Error(`the live socket did not answer ${text}; it said: ${this.#seen.slice(0, 1_000)}`);
  }
}
