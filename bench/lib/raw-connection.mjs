/**
 * One keep-alive connection over a bare socket, and just enough of HTTP to find the end of an answer: by its length, or
 * by the last chunk of a chunked one. Less work per request than a full client, because on few cores what a load
 * generator takes is missing from the server. A server that closed it while it was idle gets another.
 */
import { connect } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

export class RawConnection {
  /** @type {number} */
  #port;
  /** @type {import('node:net').Socket} */
  #socket;
  /** @type {Buffer} */
  #head = Buffer.alloc(0);
  /** Of the body; -1 while the head has not ended, Infinity for a chunked one. */
  #missingBytes = -1;
  #status = 0;
  #answerStart = '';
  /** The last bytes of a chunked body. @type {Buffer} */
  #tail = Buffer.alloc(0);
  #firstByteAt = 0;
  /** @type {((status: number) => void) | null} */
  #done = null;
  /** @type {((error: Error) => void) | null} */
  #failed = null;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
    this.#socket = this.#open();
  }

  /** The beginning of the last answer that was no success, to show what was wrong. */
  get answerStart() {
    return this.#answerStart;
  }

  /** When the first byte of the last answer's body came, on the clock of `performance.now()`. */
  get firstByteAt() {
    return this.#firstByteAt;
  }

  /** @param {Buffer} request @returns {Promise<number>} the status, once the whole answer is there */
  exchange(request) {
    if (this.#socket.destroyed) this.#socket = this.#open();
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#firstByteAt = 0;
      this.#socket.write(request);
    });
  }

  close() {
    this.#failed = null;
    this.#socket.destroy();
  }

  #open() {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (chunk) => this.#read(chunk));
    const fail = (/** @type {string} */ reason) => this.#failed?.(new Error(reason));
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the server closed the connection'));
    return socket;
  }

  /** @param {Buffer} chunk */
  #read(chunk) {
    let body = chunk;
    if (this.#missingBytes < 0) {
      this.#head = this.#head.length > 0 ? Buffer.concat([this.#head, chunk]) : chunk;
      const end = this.#head.indexOf(headEnd);
      if (end < 0) return;
      const head = this.#head.toString('latin1', 0, end);
      this.#status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
      if (length === undefined && !isChunked)
        return this.#failed?.(new Error(`an answer without a length: ${head}`));
      this.#missingBytes = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
      if (this.#status >= 300) this.#answerStart = this.#head.toString('utf8', 0, 2_000);
      body = this.#head.subarray(end + headEnd.length);
      this.#head = Buffer.alloc(0);
      this.#tail = Buffer.alloc(0);
    }
    if (body.length > 0 && this.#firstByteAt === 0) this.#firstByteAt = performance.now();
    if (this.#missingBytes === Number.POSITIVE_INFINITY) {
      this.#tail = Buffer.concat([this.#tail, body]).subarray(-lastChunk.length);
      if (!this.#tail.equals(lastChunk)) return;
    } else {
      this.#missingBytes -= body.length;
      if (this.#missingBytes > 0) return;
    }
    this.#missingBytes = -1;
    this.#done?.(this.#status);
  }
}
