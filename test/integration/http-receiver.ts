/** A webhook's other end: records what arrives and answers as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answer = (received: Received, response: ServerResponse) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** In force from the next request on. */
  answer: Answer;
  /** Resolves with the first `count` requests, once they are there. */
  arrived(count: number): Promise<Received[]>;
  close(): Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(code, headers).end('some text of the receiver');
  };

export async function startReceiver({ host = '127.0.0.1', port = 0 } = {}): Promise<Receiver> {
  const waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body };
    receiver.received.push(one);
    receiver.answer(one, response);
    for (const look of waiting.splice(0)) look();
  });
  server.listen(port, host);
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: status(204),
    arrived: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (receiver.received.length >= count) resolve(receiver.received.slice(0, count));
          else waiting.push(look);
        };
        look();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
