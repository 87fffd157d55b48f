/** Sends commands to one session and keeps the latest failure, to be shown beside the control that failed. */
import { useCallback, useState } from 'react';
import {
  type Command,
  type CommandAnswer,
  type ControlState,
  type HitlCommand,
  isStoppedState,
} from '#contracts';
import { ApiError, gatewayNowMs, sendCommand, useDenial } from '../../api';
import { begun, ended, type UnderWay } from './under-way';

export interface Commander {
  /** One of these is on its way, whatever else is. */
  isBusy: (command: Command) => boolean;
  failure: { command: Command; message: string; wasAnswered: boolean; atMs: number } | null;
  /** Null when allowed; else why not. */
  denial: string | null;
  /** Null after a failure, which then is in `failure`. */
  send: (command: HitlCommand) => Promise<CommandAnswer | null>;
  /** Rejects with the ApiError: for dialogs, which show it themselves. */
  sendOrThrow: (command: HitlCommand) => Promise<CommandAnswer>;
}

export function useCommand(sessionId: string): Commander {
  const denial = useDenial('command');
  const [underWay, setUnderWay] = useState<UnderWay>([]);
  const [failure, setFailure] = useState<Commander['failure']>(null);

  const sendOrThrow = useCallback(
    async (command: HitlCommand) => {
      setUnderWay((now) => begun(now, command.command));
      setFailure(null);
      try {
        return await sendCommand(sessionId, command);
      } finally {
        setUnderWay((now) => ended(now, command.command));
      }
    },
    [sessionId],
  );

  const send = useCallback(
    async (command: HitlCommand) => {
      try {
        return await sendOrThrow(command);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        setFailure({
          command: command.command,
          message,
          wasAnswered: wasAnswered(error),
          atMs: gatewayNowMs(),
        });
        return null;
      }
    },
    [sendOrThrow],
  );

  return { isBusy: (command) => underWay.includes(command), failure, denial, send, sendOrThrow };
}

/** A refusal; of a command without an answer nobody knows whether it was done. */
export const wasAnswered = (error: unknown): boolean => error instanceof ApiError && error.status !== 0;

/** Null where only the answer was lost: the command was done, as the session shows. */
export const failureStill = ({ failure }: Commander, state: ControlState): Commander['failure'] =>
  failure !== null && !failure.wasAnswered && isDone(failure.command, state) ? null : failure;

const isDone = (command: Command, state: ControlState): boolean =>
  command === 'pause' ? isStoppedState(state) : command === 'resume' && state === 'active';
