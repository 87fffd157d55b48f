/**
 * Keeps a process from ending in the middle of the runtime's work: a thread that is stopped inside it takes the whole
 * process down with an abort. One word of shared memory says whether the model is at work; whoever ends the process
 * waits for it, for as long as one text takes, and keeps it from beginning anew.
 *
 *     idle --enter--> running --leave--> idle        any --stop--> stopped, for good
 */

const IDLE = 0;
const RUNNING = 1;
const STOPPED = 2;

/** A model at work for longer is left to its fate. */
const STOP_MS_MAX = 1_000;

export type GateWord = Int32Array<SharedArrayBuffer>;

export const makeGate = (): GateWord => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** In the model's thread: false once the process is ending; then nothing may be begun. */
export const enterGate = (gate: GateWord): boolean =>
  Atomics.compareExchange(gate, 0, IDLE, RUNNING) === IDLE;

export function leaveGate(gate: GateWord): void {
  Atomics.compareExchange(gate, 0, RUNNING, IDLE);
  Atomics.notify(gate, 0);
}

/** Blocks the caller's thread until the model is not at work. For the end of a process, and nothing else. */
export function stopGate(gate: GateWord, stopMsMax = STOP_MS_MAX): void {
  const isRunning = Atomics.compareExchange(gate, 0, IDLE, STOPPED) === RUNNING;
  if (isRunning) Atomics.wait(gate, 0, RUNNING, stopMsMax);
  Atomics.store(gate, 0, STOPPED);
}
