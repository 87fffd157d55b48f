/** The only way this codebase asks for the time, so that tests can move it. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. Shared between processes; may step backwards. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
