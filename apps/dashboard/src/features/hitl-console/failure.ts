/** A command to a session that failed, as it stands beside the control that failed, and when that is over. Pure. */
import { type Command, type ControlView, isStoppedState } from '#contracts';

export interface Failure {
  command: Command;
  message: string;
  /** A refusal; of a command without an answer nobody knows whether it was done. */
  wasAnswered: boolean;
  /** By the gateway's clock. */
  atMs: number;
}

/** Null where it is done by now, as the session shows, or nobody can do it any more: only the answer was lost, or somebody has since. */
export function failureStill(
  failure: Failure | null,
  control: Pick<ControlView, 'state' | 'since_ms'> | undefined,
): Failure | null {
  if (failure === null || control === undefined || !isSettled(failure.command, control)) return failure;
  return failure.wasAnswered && (control.since_ms ?? 0) <= failure.atMs ? failure : null;
}

const isSettled = (command: Command, { state }: Pick<ControlView, 'state'>): boolean =>
  state === 'terminated' ||
  (command === 'pause' ? isStoppedState(state) : command === 'resume' && state === 'active');
