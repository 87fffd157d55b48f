/**
 * One keep-alive connection over a bare socket, and just enough of HTTP to find the end of an answer: by its length, or
 * by the last chunk of a chunked one. Less work per request than a full client, because on few cores what a load
 * generator takes is missing from the server. A server that closed it while it was idle gets another.
 */
import { connect } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
const nothing = Buffer.alloc(0);
/** What comes on any connection is read into it, and done with before the next is. */
const readBuffer = Buffer.alloc(64 * 1024);

export class RawConnection {
  /** @type {number} */
  #port;
  /** @type {import('node:net').Socket} */
  #socket;
  /** @type {Buffer} */
  #head = nothing;
  /** Of the body; -1 while the head has not ended, Infinity for a chunked one. */
  #missingBytes = -1;
  #status = 0;
  #lastHead = readHead('');
  #answerStart = '';
  /** The last bytes of a chunked body. @type {Buffer} */
  #tail = nothing;
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
    return new Promise((resolve, reject) => this.send(request, resolve, reject));
  }

  /**
   * The same without a promise, which takes as long as to read an answer.
   *
   * @param {Buffer} request
   * @param {(status: number) => void} done may send the next
   * @param {(error: Error) => void} failed
   */
  send(request, done, failed) {
    if (this.#socket.destroyed) this.#socket = this.#open();
    this.#done = done;
    this.#failed = failed;
    this.#firstByteAt = 0;
    this.#socket.write(request);
  }

  close() {
    this.#failed = null;
    this.#socket.destroy();
  }

  #open() {
    const socket = connect({
      port: this.#port,
      host: '127.0.0.1',
      noDelay: true,
      // Past the stream, which takes longer than all that is done here.
      onread: {
        buffer: readBuffer,
        callback: (byteCount) => {
          this.#read(readBuffer.subarray(0, byteCount));
          return true;
        },
      },
    });
    const fail = (/** @type {string} */ reason) => this.#failed?.(new Error(reason));
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the server closed the connection'));
    return socket;
  }

  /** @param {Buffer} chunk overwritten by the next */
  #read(chunk) {
    let body = chunk;
    if (this.#missingBytes < 0) {
      const bytes = this.#head.length > 0 ? Buffer.concat([this.#head, chunk]) : chunk;
      const end = bytes.indexOf(headEnd);
      if (end < 0) {
        this.#head = Buffer.from(bytes);
        return;
      }
      const head = bytes.toString('latin1', 0, end);
      // Servers say the same head again, but for its date: it is read once a second.
      if (head !== this.#lastHead.text) this.#lastHead = readHead(head);
      const { status, byteCount } = this.#lastHead;
      if (Number.isNaN(byteCount)) return this.#failed?.(new Error(`an answer without a length: ${head}`));
      this.#status = status;
      this.#missingBytes = byteCount;
      if (status >= 300) this.#answerStart = bytes.toString('utf8', 0, 2_000);
      body = bytes.subarray(end + headEnd.length);
      this.#head = nothing;
      this.#tail = nothing;
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

/**
 * @param {string} text
 * @returns {{ text: string, status: number, byteCount: number }} of the body; Infinity for a chunked one, NaN where it does not say
 */
function readHead(text) {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  const isChunked = /\r\ntransfer-encoding: *chunked/i.test(text);
  const byteCount =
    length === undefined ? (isChunked ? Number.POSITIVE_INFINITY : Number.NaN) : Number(length);
  return { text, status: Number(text.slice(9, 12)), byteCount };
}
