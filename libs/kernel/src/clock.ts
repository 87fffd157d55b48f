/** For spans within this process, which somebody who sets the wall clock must not shorten or stretch. */
export interface SteadyClock {
  /** Milliseconds since some moment; never steps. */
  steadyMs(): number;
}

/** The only way this codebase asks for the time, so that tests can move it. */
export interface Clock extends SteadyClock {
  /** Wall clock, milliseconds since the Unix epoch. Shared between processes; may step backwards. */
  nowMs(): number;
}

export const steadyClock: SteadyClock = { steadyMs: () => performance.now() };

export const systemClock: Clock = { nowMs: () => Date.now(), ...steadyClock };
