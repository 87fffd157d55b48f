/**
 * Lines of a file of any size, one at a time: memory holds one chunk and one line. A line beyond the limit is
 * passed over and reported as too long, not read. Parsing is the caller's.
 */
import { createReadStream } from 'node:fs';

/** Longest line that is read; the longest trace recorded so far is a tenth of that. */
const lineBytesMax = 64 * 1024 * 1024;

const newline = 10;

/**
 * @param {string} path
 * @param {{ bytesMax?: number, onBytes?: (bytes: number) => void }} [options] `onBytes`: how much was read, for progress
 * @returns {AsyncGenerator<{ number: number, text: string | null }>} text null = longer than `bytesMax`; empty lines
 *   are counted and left out; rejects as the file system does
 */
export async function* readLines(path, { bytesMax = lineBytesMax, onBytes } = {}) {
  /** @type {Buffer[]} */
  let parts = [];
  let partBytes = 0;
  let tooLong = false;
  let number = 0;

  /** @param {Buffer} part */
  const take = (part) => {
    partBytes += part.length;
    if (partBytes > bytesMax) {
      tooLong = true;
      parts = [];
    } else if (part.length > 0) parts.push(part);
  };
  const finish = () => {
    number++;
    const line = { number, text: tooLong ? null : Buffer.concat(parts).toString('utf8').trim() };
    parts = [];
    partBytes = 0;
    tooLong = false;
    return line;
  };

  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    onBytes?.(chunk.length);
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      take(chunk.subarray(from, at));
      from = at + 1;
      const line = finish();
      if (line.text !== '') yield line;
    }
    take(chunk.subarray(from));
  }
  if (partBytes > 0) {
    const line = finish();
    if (line.text !== '') yield line;
  }
}
