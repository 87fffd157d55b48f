/** A bare Unix socket that says back what it hears: the least that any way to another process costs. */
import { createServer } from 'node:net';
import { serve } from './helper.mjs';

serve({
  /** @param {string} path */
  listen: (path) =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => socket.on('data', (bytes) => socket.write(bytes)));
      server.once('error', reject);
      server.listen(path, () => resolve(undefined));
    }),
});
