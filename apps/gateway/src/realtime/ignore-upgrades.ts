/**
 * Offers to change the protocol that nobody takes up. Java's HTTP client makes one (`h2c`) with the first request to a host
 * without TLS, curl's `--http2` too, and who makes it must be content with an answer in HTTP/1.1. But once anybody listens for
 * WebSockets, Node takes each such request for one, and lets go of its connection.
 *
 * @see RFC 9110, section 7.8
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What the offer consists of: without it the request means the same. */
const OFFER: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

/** @param pathTaken how the URLs begin whose offers somebody else takes */
export function ignoreUpgrades(server: Server, pathTaken: string): void {
  server.on('upgrade', (request, socket, firstBytes) => {
    if (request.url?.startsWith(pathTaken)) return;
    // The connection begins anew, with the same request at its head.
    const beginAnew = () => {
      // As long as it waits for a request: the answer before this one has begun that wait.
      (socket as Socket).setTimeout(server.timeout);
      socket.unshift(Buffer.concat([headWithoutOffer(request), firstBytes]));
      server.emit('connection', socket);
    };
    if (answerAhead(socket) === null) beginAnew();
    else awaitAnswers(socket, beginAnew);
  });
}

/** For Node's parser: what follows this head is none of its business. */
const SKIP_REST = 2;

/**
 * From 26 on Node reads the body of such a request itself, and hands over a stream in place of the connection, on which nothing
 * can begin anew. This keeps it as it was before: all that follows the head is left to who listens for upgrades. To be called
 * before anybody else takes the place of Node's own listener for connections.
 */
export function leaveBodiesUnread(server: Server): void {
  const [toNode] = server.listeners('connection') as [(socket: Socket) => void];
  server.off('connection', toNode).on('connection', (socket) => {
    toNode.call(server, socket);
    const { parser } = socket as { parser?: Parser | null };
    if (!parser) return;
    const { onIncoming } = parser;
    parser.onIncoming = (request, isKept) => onIncoming(request, isKept) || (request.upgrade ? SKIP_REST : 0);
  });
}

/** As much of Node's own as is used here, for want of a public way; `upgrade`: somebody is to have the connection. */
interface Parser {
  onIncoming(request: IncomingMessage & { upgrade: boolean | null }, isKept: boolean): number;
}

/** The one that has the socket; null for none. Node's own mark, for want of a public one that costs nothing per request. */
export const answerAhead = (socket: Duplex): ServerResponse | null =>
  (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? null;

/**
 * To a request that was sent ahead of another whose answer is still to come, Node's new connection would have an answer that it
 * never sends. Nobody else listens to the socket meanwhile: that its client leaves, breaks, or takes what it was sent, is seen
 * here.
 */
function awaitAnswers(socket: Duplex, whenSent: () => void): void {
  const onGone = () => socket.destroy();
  const onDrain = () => answerAhead(socket)?.emit('drain');
  socket.on('error', onGone).on('end', onGone).on('drain', onDrain);
  socket.read(0);
  // When one closes, Node has given the socket to the next.
  const look = () => {
    const ahead = answerAhead(socket);
    if (ahead !== null) {
      ahead.once('close', look);
      return;
    }
    if (socket.destroyed || !socket.writable) return;
    socket.off('error', onGone).off('end', onGone).off('drain', onDrain);
    whenSent();
  };
  look();
}

function headWithoutOffer({ method, url, httpVersion, rawHeaders, headers }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  if (/\bclose\b/i.test(headers.connection ?? '')) lines.push('connection: close');
  // As Node has read it: a character for each byte.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
