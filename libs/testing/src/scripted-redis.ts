/**
 * A Redis whose replies are a script: what a client sends is kept byte for byte, what it gets is written in RESP2 or
 * RESP3 as the test says. Shakes hands by itself. Stands in for servers that are not at hand, or behave like no real one.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** An error reply: `-<text>`. */
export class RedisError {
  constructor(readonly text: string) {}
}

/** Bytes sent as they are: for what is no RESP at all. */
export class RawReply {
  constructor(readonly bytes: string | Buffer) {}
}

/** A double: its own type in RESP3, a string in RESP2. */
export class RedisDouble {
  constructor(readonly value: number) {}
}

/** The client waits. */
export const NO_REPLY = Symbol('no reply');
/** The connection is cut instead of an answer. */
export const HANG_UP = Symbol('hang up');

export type RedisReply =
  | string
  | Buffer
  | number
  | null
  | RedisDouble
  | RedisError
  | RawReply
  | Map<string, RedisReply>
  | RedisReply[]
  | typeof NO_REPLY
  | typeof HANG_UP;

/** @param args the command and its arguments; `index` counts commands since the script was set, handshakes aside */
export type RedisScript = (args: Buffer[], index: number) => RedisReply | Promise<RedisReply>;

/** Sent by a client before it is ready. */
const HANDSHAKE = new Set(['HELLO', 'CLIENT', 'INFO', 'SELECT', 'AUTH', 'QUIT']);

export class ScriptedRedis {
  /** Since the script was set, handshakes aside. */
  readonly commands: Buffer[][] = [];
  connectionCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #protocol: 2 | 3;
  #script: RedisScript = () => new RedisError('ERR no script');

  /** @param protocol newest it speaks; a client that asks for more is told so */
  constructor(protocol: 2 | 3 = 3) {
    this.#protocol = protocol;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Connections that are there now. */
  get openCount(): number {
    return this.#sockets.size;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** From now on; forgets earlier commands. */
  script(script: RedisScript): void {
    this.commands.length = 0;
    this.#script = script;
  }

  /** Cuts all connections; listens on. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.hangUp();
    await closed;
  }

  #serve(socket: Socket): void {
    this.connectionCount += 1;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    let unread: Buffer = Buffer.alloc(0);
    // Replies leave in the order of their commands.
    let last: Promise<void> = Promise.resolve();
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      for (;;) {
        const command = takeCommand(unread);
        if (command === null) return;
        unread = command.rest;
        const reply = this.#reply(command.args);
        last = last.then(async () => this.#write(socket, await reply));
      }
    });
  }

  #reply(args: Buffer[]): RedisReply | Promise<RedisReply> {
    const name = String(args[0]).toUpperCase();
    if (HANDSHAKE.has(name)) return this.#handshake(name, args);
    this.commands.push(args);
    return this.#script(args, this.commands.length - 1);
  }

  #handshake(name: string, args: Buffer[]): RedisReply {
    if (name === 'INFO') return 'redis_version:8.0.0\r\nrole:master\r\nloading:0\r\n';
    if (name !== 'HELLO') return 'OK';
    if (Number(args[1]) > this.#protocol) return new RedisError('NOPROTO unsupported protocol version');
    return new Map<string, RedisReply>([
      ['server', 'redis'],
      ['version', '8.0.0'],
      ['proto', this.#protocol],
    ]);
  }

  #write(socket: Socket, reply: RedisReply): void {
    if (reply === NO_REPLY || socket.destroyed) return;
    if (reply === HANG_UP) socket.destroy();
    else socket.write(encode(reply, this.#protocol));
  }
}

/** One complete command off the front: an array of bulk strings. Null: there is more to come. */
function takeCommand(bytes: Buffer): { args: Buffer[]; rest: Buffer } | null {
  const count = takeLength(bytes, 0);
  if (count === null) return null;
  const args: Buffer[] = [];
  let at = count.end;
  while (args.length < count.length) {
    const size = takeLength(bytes, at);
    if (size === null || bytes.length < size.end + size.length + 2) return null;
    args.push(Buffer.from(bytes.subarray(size.end, size.end + size.length)));
    at = size.end + size.length + 2;
  }
  return { args, rest: bytes.subarray(at) };
}

/** `*3\r\n` or `$5\r\n`. */
function takeLength(bytes: Buffer, at: number): { length: number; end: number } | null {
  const end = bytes.indexOf('\r\n', at);
  return end === -1 ? null : { length: Number(bytes.toString('latin1', at + 1, end)), end: end + 2 };
}

function encode(reply: RedisReply, protocol: 2 | 3): Buffer {
  if (reply instanceof RawReply) return Buffer.from(reply.bytes as string);
  if (reply instanceof RedisError) return Buffer.from(`-${reply.text}\r\n`);
  if (reply instanceof RedisDouble)
    return protocol === 3 ? Buffer.from(`,${reply.value}\r\n`) : encode(String(reply.value), protocol);
  if (reply === null) return Buffer.from(protocol === 3 ? '_\r\n' : '$-1\r\n');
  if (typeof reply === 'number') return Buffer.from(`:${reply}\r\n`);
  if (typeof reply === 'string' || Buffer.isBuffer(reply)) {
    const bytes = Buffer.from(reply as string);
    return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')]);
  }
  if (reply instanceof Map) {
    const items: RedisReply[] = [...reply].flat(1);
    const head = protocol === 3 ? `%${reply.size}\r\n` : `*${items.length}\r\n`;
    return Buffer.concat([Buffer.from(head), ...items.map((item) => encode(item, protocol))]);
  }
  if (Array.isArray(reply))
    return Buffer.concat([
      Buffer.from(`*${reply.length}\r\n`),
      ...reply.map((item) => encode(item, protocol)),
    ]);
  throw new TypeError('Only a whole reply may be left out');
}
