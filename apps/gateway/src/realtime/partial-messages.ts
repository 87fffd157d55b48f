/**
 * What connections of Socket.IO send of messages that are not whole yet. Whoever never ends one keeps what came of it in
 * memory, so its bytes count among those of all bodies under way; of a connection that no namespace let in nothing is kept
 * but what it takes to ask for that.
 *
 *     WebSocket   counted as it comes: the room is asked for each piece
 *     polling     a body of its own: the room is asked for what it says it has, and its messages are counted as they come
 *     binary      a packet in several messages: nothing here has any, so it ends its connection
 *     JSON        a whole message that is large to whoever parses it ends its connection, too
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'socket.io';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { LIMITS, LIVE_EVENTS, ObservatoryError } from '#contracts';
import { passedBound } from '#kernel';
import { noRoom } from '../decision-log/body-reader.js';
import type { FairShare } from '../fair-share.js';
import type { SendRawError } from '../raw-routes.js';

/** RFC 6455 and the IANA registry of close codes: "message too big" and "try again later". */
const CLOSE_CODES = { payload_too_large: 1009, too_many_bytes: 1013 } as const;
/** How a packet of Socket.IO begins whose attachments follow as messages of their own, to be kept until the last is there. */
const BINARY_PACKET = /^[56]/;
type Reason = keyof typeof CLOSE_CODES;
/** Of Engine.IO, between the packets of one body. */
const PACKET_SEPARATOR = '\x1e';
const NOT_LET_IN = `Before it is let in, a connection sends ${LIMITS.partialMessageBytesFree} bytes at once at most.`;
const TOO_MANY_PACKETS = `One body of polling holds ${LIMITS.packetsPerBodyMax} packets at most.`;

/** Of a packet, whose messages are told themselves what is too deep or too much: only what is dear to the parser ends here. */
const JSON_BOUNDS = {
  depthMax: 4 * LIMITS.jsonDepthMax,
  valuesMax: 2 * LIMITS.jsonValuesMax,
  namesMax: LIMITS.jsonNamesMax,
};

/** Of Engine.IO. */
export type Connection = Socket['conn'];

/** A sender that is still talking gets this long to read why it should stop. */
const LINGER_MS = 1_000;

export interface PartialMessagesParts {
  bodyBytes: FairShare;
  sendError: SendRawError;
  onRefused: (reason: Reason | 'unsupported_media_type') => void;
}

export class PartialMessages {
  readonly #parts: PartialMessagesParts;
  /** Who was let in, by the request its connection began with and by the connection's id, which later requests name. */
  readonly #letIn = new Map<IncomingMessage | string, Socket>();

  constructor(parts: PartialMessagesParts) {
    this.#parts = parts;
  }

  /** A namespace has let this socket in; a connection is of the tenant of its first. */
  admit(socket: Socket): void {
    const { request, id } = socket.conn as Connection & { id: string };
    if (this.#letIn.has(id)) return;
    this.#letIn.set(request, socket).set(id, socket);
    socket.conn.once('close', () => {
      this.#letIn.delete(request);
      this.#letIn.delete(id);
    });
  }

  /** The first that a namespace let in; undefined: none. */
  readonly socketOf = ({ request }: Connection): Socket | undefined => this.#letIn.get(request);

  /** For Socket.IO's option `wsEngine`: sees every WebSocket from its first byte, whatever becomes of it. */
  webSocketServer(): new (options: ServerOptions) => WebSocketServer {
    const watch = this.#watch.bind(this);
    return class extends WebSocketServer {
      override handleUpgrade(
        request: IncomingMessage,
        socket: Duplex,
        head: Buffer,
        done: (webSocket: WebSocket, request: IncomingMessage) => void,
      ): void {
        super.handleUpgrade(request, socket, head, (webSocket) => {
          watch(request, socket, webSocket);
          done(webSocket, request);
        });
      }
    };
  }

  /** For Engine.IO's `use`: bodies of polling. What need not ask for room is too short for too many packets. */
  readonly bodyOfPolling = (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const byteCount = Number(request.headers['content-length'] ?? LIMITS.bodyBytesMax);
    // What is larger than any may be is refused by its length alone.
    if (
      request.method !== 'POST' ||
      byteCount <= LIMITS.partialMessageBytesFree ||
      byteCount > LIMITS.bodyBytesMax
    ) {
      next();
      return;
    }
    const tenantId = tenantOf(this.#senderOf(request));
    if (tenantId === null) this.#refuseBody(response, new ObservatoryError('payload_too_large', NOT_LET_IN));
    else if (!this.#parts.bodyBytes.take(tenantId, byteCount)) this.#refuseBody(response, noRoom());
    else {
      response.once('close', () => this.#parts.bodyBytes.giveBack(tenantId, byteCount));
      this.#countPackets(request, response);
      next();
    }
  };

  /** For each connection of Engine.IO: looks at its packets before Socket.IO parses them. */
  readonly inspectPackets = (connection: Connection): void => {
    connection.on('packet', (packet: { type: string; data?: unknown }) => {
      if (packet.type !== 'message') return;
      const reason = refusalOfPacket(packet.data);
      if (reason === null) return;
      this.#parts.onRefused(reason);
      this.socketOf(connection)?.emit(LIVE_EVENTS.cut, { reason });
      // Of this kind nothing is made.
      packet.type = 'noop';
      connection.close();
    });
  };

  /** Engine.IO reads all packets of a body in one turn. A body of too many never reaches it, and ends its connection. */
  #countPackets(request: IncomingMessage, response: ServerResponse): void {
    let packetCount = 1;
    request.setEncoding('utf8').on('data', (piece: string) => {
      packetCount += piece.split(PACKET_SEPARATOR, LIMITS.packetsPerBodyMax + 1).length - 1;
      if (packetCount <= LIMITS.packetsPerBodyMax) return;
      request.removeAllListeners('data').removeAllListeners('end');
      this.#refuseBody(response, new ObservatoryError('payload_too_large', TOO_MANY_PACKETS));
    });
  }

  #watch(request: IncomingMessage, socket: Duplex, webSocket: WebSocket): void {
    const { bodyBytes } = this.#parts;
    let receivedBytes = 0;
    let taken: { tenantId: string; byteCount: number } | null = null;
    let isWhole = false;
    const giveBack = () => {
      if (taken !== null) bodyBytes.giveBack(taken.tenantId, taken.byteCount);
      taken = null;
      receivedBytes = 0;
    };
    const take = (byteCount: number): Reason | null => {
      const tenantId = taken?.tenantId ?? tenantOf(this.#senderOf(request));
      if (tenantId === null) return 'payload_too_large';
      if (!bodyBytes.take(tenantId, byteCount)) return 'too_many_bytes';
      taken = { tenantId, byteCount: (taken?.byteCount ?? 0) + byteCount };
      return null;
    };
    webSocket.on('message', () => {
      isWhole = true;
    });
    webSocket.once('close', giveBack);
    // After the WebSocket's own listener: a message that this piece ends has been told of.
    socket.on('data', (piece: Buffer) => {
      if (isWhole) giveBack();
      else receivedBytes += piece.length;
      isWhole = false;
      if (receivedBytes <= LIMITS.partialMessageBytesFree) return;
      const refusal = take(receivedBytes - (taken?.byteCount ?? 0));
      if (refusal !== null) this.#cut(request, socket, webSocket, refusal);
    });
  }

  #cut(request: IncomingMessage, socket: Duplex, webSocket: WebSocket, reason: Reason): void {
    this.#parts.onRefused(reason);
    this.#senderOf(request)?.emit(LIVE_EVENTS.cut, { reason });
    webSocket.close(CLOSE_CODES[reason], reason);
    // What still comes is thrown away. A connection closed on what was not read is reset, and the words go with it.
    socket.removeAllListeners('data').resume();
    setTimeout(() => webSocket.terminate(), LINGER_MS).unref();
  }

  #refuseBody(response: ServerResponse, refusal: ObservatoryError): void {
    this.#parts.onRefused(refusal.code as Reason);
    this.#parts.sendError(response, refusal);
  }

  #senderOf(request: IncomingMessage): Socket | undefined {
    const id = new URLSearchParams(request.url?.split('?', 2)[1]).get('sid');
    return this.#letIn.get(id ?? request);
  }
}

function refusalOfPacket(data: unknown): 'unsupported_media_type' | 'payload_too_large' | null {
  if (typeof data !== 'string' || BINARY_PACKET.test(data)) return 'unsupported_media_type';
  // What is shorter passes none of the bounds that matter.
  if (data.length <= LIMITS.partialMessageBytesFree) return null;
  return passedBound(Buffer.from(data), JSON_BOUNDS) === null ? null : 'payload_too_large';
}

/** Null: a stranger. */
const tenantOf = (socket: Socket | undefined): string | null => socket?.data.principal.tenant_id ?? null;
