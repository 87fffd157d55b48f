/** What is no HTTP request, or comes too slowly to be one: nobody knows its path, and there is no answer object to write to. */
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ObservatoryError } from '#contracts';
import { JSON_HEADERS } from './security-headers.js';

/** As Node's parser says it: `code` is its own, `reason` what it stumbled over. */
type ParserError = NodeJS.ErrnoException & { reason?: string };

/** Answers in the catalogue's words, then ends the connection: where one request ends and the next begins is not known any more. */
export function refuseMalformed(error: ParserError, socket: Socket): void {
  // In the middle of an answer to an earlier request these words would be taken for a part of it.
  const isAnswering = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage
    ?.headersSent;
  if (socket.writable && error.code !== 'ECONNRESET' && !isAnswering) socket.write(answerTo(error));
  socket.destroySoon();
}

function answerTo(error: ParserError): string {
  const refusal = refusalOf(error);
  const body = JSON.stringify(refusal.toAnswer());
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`];
  for (let at = 0; at < JSON_HEADERS.length; at += 2)
    lines.push(`${JSON_HEADERS[at]}: ${JSON_HEADERS[at + 1]}`);
  lines.push(`content-length: ${Buffer.byteLength(body)}`, 'connection: close', '', body);
  return lines.join('\r\n');
}

function refusalOf({ code, reason }: ParserError): ObservatoryError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ObservatoryError('request_timeout');
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ObservatoryError(
      'headers_too_large',
      `The request's headers are larger than ${maxHeaderSize} bytes.`,
    );
  return new ObservatoryError(
    'invalid_request',
    reason ? `This is no HTTP request: ${reason}.` : 'This is no HTTP request.',
  );
}
