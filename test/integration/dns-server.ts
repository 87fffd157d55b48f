/** A name server on a UDP socket of its own that answers for any name with the IPv4 addresses that a test says. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;

export interface DnsServer {
  /** As `Resolver.setServers` takes it. */
  address: string;
  /** Of the queries to come, one after another; the last one stays. */
  answers: string[][];
  /** Names asked for. */
  readonly queried: string[];
  close(): void;
}

export async function startDnsServer(): Promise<DnsServer> {
  const socket: Socket = createSocket('udp4');
  const server = {
    address: '',
    answers: [] as string[][],
    queried: [] as string[],
    close: () => void socket.close(),
  };
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    let addresses: string[] = [];
    if (type === TYPE_A) {
      server.queried.push(name);
      addresses = (server.answers.length > 1 ? server.answers.shift() : server.answers[0]) ?? [];
    }
    socket.send(answerTo(query.subarray(0, end), addresses), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.address = `127.0.0.1:${socket.address().port}`;
  return server;
}

/** Names in queries are never compressed. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  while (query[at] !== 0) {
    const length = query[at] as number;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** @param asked header and question */
function answerTo(asked: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(asked);
  // A recursive answer without an error; one question, these answers, nothing else.
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    // The name of the question, A, IN, living no second, four bytes.
    Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
