/** Sends commands to one session and keeps the latest failure, to be shown beside the control that failed. */
import { useCallback, useState } from 'react';
import type { Command, CommandAnswer, HitlCommand } from '#contracts';
import { sendCommand, useDenial } from '../../api';

export interface Commander {
  /** The latest command, while it is on its way; null = none. */
  busy: Command | null;
  failure: { command: Command; message: string } | null;
  /** Null when allowed; else why not. */
  denial: string | null;
  /** Null after a failure, which then is in `failure`. */
  send: (command: HitlCommand) => Promise<CommandAnswer | null>;
  /** Rejects with the ApiError: for dialogs, which show it themselves. */
  sendOrThrow: (command: HitlCommand) => Promise<CommandAnswer>;
}

export function useCommand(sessionId: string): Commander {
  const denial = useDenial('command');
  const [busy, setBusy] = useState<Command | null>(null);
  const [failure, setFailure] = useState<Commander['failure']>(null);

  const sendOrThrow = useCallback(
    async (command: HitlCommand) => {
      setBusy(command.command);
      setFailure(null);
      try {
        return await sendCommand(sessionId, command);
      } finally {
        setBusy((current) => (current === command.command ? null : current));
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
        setFailure({ command: command.command, message });
        return null;
      }
    },
    [sendOrThrow],
  );

  return { busy, failure, denial, send, sendOrThrow };
}
