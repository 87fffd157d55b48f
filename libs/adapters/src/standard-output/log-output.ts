/**
 * Where log lines go: stdout, whatever becomes of it. A disk that is full, a terminal that was closed and a reader that left
 * take the lines that could not be written, and nothing else.
 */
import { type DestinationStream, pino } from 'pino';

/** Characters that wait for a slow reader; further lines are dropped. */
const WAITING_CHARS_MAX = 4 * 1024 * 1024;

/** @param isSync true: a line has left before the next statement runs, for who may end without notice */
export function openLogOutput({ isSync }: { isSync: boolean }): DestinationStream {
  const open = () => {
    const opened = pino.destination({ dest: 1, sync: isSync, maxLength: WAITING_CHARS_MAX });
    opened.once('error', () => {
      // It keeps what it could not write, and at the process's end would try that again for ever.
      opened.flushSync = () => {};
      output = open();
    });
    return opened;
  };
  let output = open();
  return { write: (line) => void output.write(line) };
}

/** What is written there beside the log may be lost too: without a listener such an error ends the process. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
