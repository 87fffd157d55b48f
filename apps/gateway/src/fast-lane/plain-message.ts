/** The answer to a plain request, as the bytes of one message. Its text is JSON, and all of it is there. */
import { STATUS_CODES } from 'node:http';
import { JSON_HEADERS } from '../errors/security-headers.js';

export interface PlainAnswer {
  status: number;
  text: string;
  /** Of the text, where that is known: to count them makes one text of its parts, which sending it does once more. */
  byteCount?: number;
  /** Names and values in turns, besides those of every answer in JSON. */
  headers: readonly string[];
}

const linesOf = (headers: readonly string[]): string => {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
};

const JSON_LINES = linesOf(JSON_HEADERS);

/** @param keptMs how long the connection is kept for a next request; null: it ends with this answer */
export function plainMessage(
  { status, text, byteCount = Buffer.byteLength(text), headers }: PlainAnswer,
  keptMs: number | null,
): string {
  const connection =
    keptMs === null
      ? 'Connection: close'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keptMs / 1_000)}`;
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${JSON_LINES}content-length: ${byteCount}\r\n` +
    `${linesOf(headers)}Date: ${dateNow()}\r\n${connection}\r\n\r\n${text}`
  );
}

const SECOND_MS = 1_000;

/** Empty once its second is over. */
let date = '';

/** Made once a second, as Node's own server does. */
function dateNow(): string {
  if (date === '') {
    const now = new Date();
    date = now.toUTCString();
    setTimeout(forgetDate, SECOND_MS - now.getUTCMilliseconds()).unref();
  }
  return date;
}

function forgetDate(): void {
  date = '';
}
