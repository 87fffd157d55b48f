/**
 * A bench's helpers run in processes of their own, so that what they cost is not on the bill of what is measured.
 * A helper file calls `serve` with its commands; the bench calls `openHelper(file)` and then the commands by name.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';

const closeTimeoutMs = 5_000;

/**
 * @param {URL} file
 * @returns {{ pid: number, call: (command: string, input?: unknown) => Promise<any>, close: () => void }}
 *   `call` rejects when the command throws or the helper dies; `close` ends it
 */
export function openHelper(file) {
  const child = fork(file, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  const calls = new Map();
  let lastId = 0;
  child.on('message', (/** @type {any} */ { id, result, error }) => {
    const call = calls.get(id);
    calls.delete(id);
    if (error !== undefined) call?.reject(new Error(error));
    else call?.resolve(result);
  });
  child.on('exit', (code, signal) => {
    for (const { reject } of calls.values()) reject(new Error(`${file.pathname} ended (${signal ?? code})`));
    calls.clear();
    process.removeListener('exit', close);
  });
  const close = () => {
    // The helper then exits by itself, which lets it clean up; a stuck one is killed.
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill('SIGKILL'), closeTimeoutMs).unref();
  };
  process.once('exit', close);
  return {
    pid: child.pid ?? 0,
    close,
    call: (command, input) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        calls.set(id, { resolve, reject });
        child.send({ id, command, input }, (error) => error && reject(error));
      }),
  };
}

/**
 * The helper's side. Ends with its parent.
 *
 * @param {Record<string, (input: any) => unknown>} commands
 */
export function serve(commands) {
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => process.exit());
  // Ctrl-C goes to every process of the terminal; the parent decides, and then this one is disconnected.
  process.on('SIGINT', () => {});
  process.on('message', async (/** @type {any} */ { id, command, input }) => {
    try {
      const result = await commands[command]?.(input);
      process.send?.({ id, result });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
}

/**
 * On a free port of this machine.
 *
 * @param {import('node:net').Server} server
 * @returns {Promise<number>} the port
 */
export async function listenLocally(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return address && typeof address === 'object' ? address.port : 0;
}
