/**
 * Where log lines go: stdout, whatever becomes of it. A disk that is full, a terminal that was closed and a reader that left
 * or stands still take the lines that could not be written, and nothing else.
 */
import { type DestinationStream, pino } from 'pino';

/** Characters that wait for a slow reader; further lines are dropped. */
const WAITING_CHARS_MAX = 4 * 1024 * 1024;

/** At the process's end a reader that stands still is waited for no longer. */
const LAST_WAIT_MS = 1_000;

/** @param isSync true: a line has left before the next statement runs, for who may end without notice */
export function openLogOutput({ isSync }: { isSync: boolean }): DestinationStream {
  const open = () => {
    let waitsUntilMs = Number.POSITIVE_INFINITY;
    const opened = pino.destination({
      dest: 1,
      sync: isSync,
      maxLength: WAITING_CHARS_MAX,
      // The reader is behind. Who writes in step would stand still with it.
      retryEAGAIN: () => !isSync && performance.now() < waitsUntilMs,
    });
    const { flushSync } = opened;
    opened.flushSync = () => {
      waitsUntilMs = performance.now() + LAST_WAIT_MS;
      try {
        flushSync.call(opened);
      } catch {
        // What it has not read by now is lost.
      }
    };
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
