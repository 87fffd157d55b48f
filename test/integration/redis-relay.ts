/** Between a gateway and its Redis: hands all on as it comes, says when something is asked, and keeps back what is answered. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { endWithFile } from './end-with-file.js';

export interface RedisRelay {
  url: string;
  /** Resolves as the next request passes that holds this text. */
  asked(text: string): Promise<void>;
  /** From now on what is answered waits. */
  hold(): void;
  /** What waits goes on, in its order. */
  release(): void;
}

/** @param port of a Redis on this machine */
export async function startRedisRelay(port: number): Promise<RedisRelay> {
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  const looks = new Map<() => void, string>();
  let isHeld = false;
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      redis.write(bytes);
      for (const [tell, text] of looks) if (bytes.includes(text) && looks.delete(tell)) tell();
    });
    redis.on('data', (bytes) => {
      if (isHeld) waiting.push(() => client.write(bytes));
      else client.write(bytes);
    });
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  endWithFile(async () => {
    const closed = new Promise((settle) => server.close(settle));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (text) => new Promise((settle) => looks.set(settle, text)),
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      for (const write of waiting.splice(0)) write();
    },
  };
}
