/** Sends commands to one session and keeps the latest failure, to be shown beside the control that failed. */
import { useCallback, useState } from 'react';
import type { Command, CommandAnswer, HitlCommand } from '#contracts';
import { ApiError, gatewayNowMs, sendCommand, useDenial } from '../../api';
import type { Failure } from './failure';
import { begun, ended, type UnderWay } from './under-way';

export interface Commander {
  /** One of these is on its way, whatever else is. */
  isBusy: (command: Command) => boolean;
  failure: Failure | null;
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
  const [failure, setFailure] = useState<Failure | null>(null);

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
        setFailure(failureOf(command.command, error));
        return null;
      }
    },
    [sendOrThrow],
  );

  return { isBusy: (command) => underWay.includes(command), failure, denial, send, sendOrThrow };
}

/** @param error what `sendCommand` rejected with, just now */
export const failureOf = (command: Command, error: unknown): Failure => ({
  command,
  message: error instanceof Error ? error.message : String(error),
  // A disk that takes its time may do so still.
  wasAnswered: error instanceof ApiError && error.status !== 0 && error.reason !== 'store_busy',
  atMs: gatewayNowMs(),
});
