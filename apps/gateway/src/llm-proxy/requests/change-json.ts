/**
 * A change to a request's JSON that leaves its numbers as they were written: an id of 64 bits among the arguments of an earlier
 * call, which JSON.parse would round, `1.0`, `1e400`. They go round the parser as texts that nobody else can have written.
 */
import { replaceNumbers, withoutMark } from '#kernel';

/**
 * @param bytes valid JSON; a mark before it is left out
 * @param mark that occurs neither in it nor in what the change puts in, and means nothing in a regular expression
 * @param change makes a value of the parsed one, and looks at no number
 */
export function changeJson(bytes: Buffer, mark: string, change: (value: unknown) => unknown): string {
  const json = withoutMark(bytes);
  const numbers: string[] = [];
  const marked = replaceNumbers(json, 1, (number) =>
    number === String(Number(number)) ? null : `"${mark}${numbers.push(number) - 1}"`,
  );
  const changed = JSON.stringify(change(JSON.parse(marked ?? json.toString('utf8'))));
  if (numbers.length === 0) return changed;
  return changed.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_, index) => numbers[index] as string);
}
