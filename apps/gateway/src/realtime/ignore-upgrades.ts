/**
 * Offers to change the protocol that nobody takes up. Java's HTTP client makes one (`h2c`) with the first request to a host
 * without TLS, curl's `--http2` too, and who makes it must be content with an answer in HTTP/1.1. But once anybody listens for
 * WebSockets, Node takes each such request for one, and lets go of its connection.
 *
 * @see RFC 9110, section 7.8
 */
import type { IncomingMessage, Server } from 'node:http';

/** What the offer consists of: without it the request means the same. */
const OFFER: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

/** @param pathTaken how the URLs begin whose offers somebody else takes */
export function ignoreUpgrades(server: Server, pathTaken: string): void {
  server.on('upgrade', (request, socket, firstBytes) => {
    if (request.url?.startsWith(pathTaken)) return;
    // The connection begins anew, with the same request at its head.
    socket.unshift(Buffer.concat([headWithoutOffer(request), firstBytes]));
    server.emit('connection', socket);
  });
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
