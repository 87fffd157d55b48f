/**
 * Live memory of another Node process, over its inspector: garbage is collected first, so that what is counted is what
 * the process really holds. Needs the process to run with `--inspect=127.0.0.1:<port>`.
 */
import { WebSocket } from 'undici';

export class Inspector {
  /** @type {WebSocket} */
  #socket;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #calls = new Map();
  #lastId = 0;

  /** @param {WebSocket} socket open */
  constructor(socket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result, error } = JSON.parse(String(data));
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error) call?.reject(new Error(error.message));
      else call?.resolve(result);
    });
    socket.addEventListener('close', () => {
      for (const { reject } of this.#calls.values()) reject(new Error('the inspector went away'));
      this.#calls.clear();
    });
  }

  /** @param {number} port @returns {Promise<Inspector>} */
  static async attach(port) {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`);
    const [target] = /** @type {{ webSocketDebuggerUrl: string }[]} */ (await response.json());
    if (!target) throw new Error('nothing to inspect');
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('the inspector refused')));
    });
    return new Inspector(socket);
  }

  /** @returns {Promise<number>} bytes held by JavaScript objects and buffers of the main thread, garbage not counted */
  async liveBytes() {
    await this.#call('HeapProfiler.collectGarbage');
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true });
    return Number(result.value);
  }

  close() {
    this.#socket.close();
  }

  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  #call(method, params = {}) {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#calls.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
