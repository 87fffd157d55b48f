/**
 * Gives up a connection on which replies are awaited and nothing comes, and with it all that waits on it. It counts
 * looks and no time: between two of them the loop reads what lies in the socket, so that a process which was busy for
 * seconds does not take itself for a silent server, as the client's own timers do.
 */
import type { Redis } from 'ioredis';
import { RedisFailure } from './redis-failure.js';

const LOOK_MS = 250;
/** One after the other, the first included: a second has passed, or more. */
const SILENT_LOOKS_MAX = 5;

/** @param client looked after whenever it is connected, from its very first command on */
export function leaveWhenSilent(client: Redis): void {
  client.on('connect', () => {
    const { stream } = client;
    let heardBytes = stream.bytesRead;
    let silentLooks = 0;
    const looking = setInterval(() => {
      const isSilent = client.commandQueue.length > 0 && stream.bytesRead === heardBytes;
      heardBytes = stream.bytesRead;
      silentLooks = isSilent ? silentLooks + 1 : 0;
      if (silentLooks >= SILENT_LOOKS_MAX) stream.destroy(new RedisFailure('timeout'));
    }, LOOK_MS);
    looking.unref();
    stream.once('close', () => clearInterval(looking));
  });
}
