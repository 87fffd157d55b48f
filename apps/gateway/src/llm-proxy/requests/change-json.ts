/**
 * A change to a request's JSON that leaves its numbers as they were written: an id of 64 bits among the arguments of an earlier
 * call, which JSON.parse would round, `1.0`, `1e400`. They go round the parser as texts that nobody else can have written.
 */
import { JsonStrings, withoutMark } from '#kernel';

const QUOTE = 0x22;
const MINUS = 0x2d;

/**
 * @param bytes valid JSON; a mark before it is left out
 * @param mark that occurs neither in it nor in what the change puts in, and means nothing in a regular expression
 * @param change makes a value of the parsed one, and looks at no number
 */
export function changeJson(bytes: Buffer, mark: string, change: (value: unknown) => unknown): string {
  const json = withoutMark(bytes);
  const numbers: string[] = [];
  const pieces: string[] = [];
  const strings = new JsonStrings(json);
  let from = 0;
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === QUOTE) at = strings.endOf(at);
    if (!startsNumber(json[at])) continue;
    const start = at;
    while (isOfNumber(json[at + 1])) at += 1;
    const number = json.toString('latin1', start, at + 1);
    if (number === String(Number(number))) continue;
    pieces.push(json.toString('utf8', from, start), `"${mark}${numbers.length}"`);
    numbers.push(number);
    from = at + 1;
  }
  pieces.push(json.toString('utf8', from));
  const changed = JSON.stringify(change(JSON.parse(pieces.join(''))));
  if (numbers.length === 0) return changed;
  return changed.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_, index) => numbers[index] as string);
}

const startsNumber = (byte = 0): boolean => byte === MINUS || (byte >= 0x30 && byte <= 0x39);

/** A digit, or one of `.eE+-`. */
const isOfNumber = (byte = 0): boolean =>
  startsNumber(byte) || byte === 0x2e || byte === 0x2b || (byte | 0x20) === 0x65;
