/** One command for many sessions: whom it concerns, and how it is sent to each of them. */
import { isStoppedState, type SessionView } from '#contracts';
import { ApiError } from '../../api';

export const BULK_COMMANDS = ['pause', 'resume', 'terminate'] as const;
export type BulkCommand = (typeof BULK_COMMANDS)[number];

const CONCERNS: Record<BulkCommand, (session: SessionView) => boolean> = {
  pause: ({ ended, control }) => !ended && control.state === 'active',
  resume: ({ control }) => isStoppedState(control.state),
  terminate: ({ ended, control }) => !ended && control.state !== 'terminated',
};

/** Those for whom it changes anything. */
export const concernedBy = (command: BulkCommand, sessions: readonly SessionView[]): SessionView[] =>
  sessions.filter(CONCERNS[command]);

/** By agent, those with most sessions first; of as many, by name. */
export function countByAgent(sessions: readonly SessionView[]): [agentId: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { agent_id } of sessions) counts.set(agent_id, (counts.get(agent_id) ?? 0) + 1);
  return [...counts].sort(([a, of], [b, than]) => than - of || (a < b ? -1 : 1));
}

/** As many as a browser sends to one server at once. */
export const SENT_AT_ONCE = 6;

export interface Unsent {
  session: SessionView;
  message: string;
  /** False: nothing was sent any more when its turn came. */
  wasSent: boolean;
  /** Nothing is let in any more: the page goes to the login. */
  isLoginOver: boolean;
}

export interface Outcome {
  /** Terminated or deleted meanwhile: nothing is left to do. */
  overCount: number;
  /** Those that were refused, of which nobody knows, or to which nothing was sent any more. */
  unsent: Unsent[];
}

/**
 * Sends to each, in their order, until the gateway lets nobody in or does not answer: what comes after would fail alike, each as late.
 * @param stop whoever sends has thought better of it: what is sent by then is sent
 * @param onSent called after each, whatever came of it, with how many have been
 */
export async function sendToEach(
  sessions: readonly SessionView[],
  send: (sessionId: string) => Promise<unknown>,
  stop: AbortSignal,
  onSent: (count: number) => void,
): Promise<Outcome> {
  const outcome: Outcome = { overCount: 0, unsent: [] };
  const left = sessions.values();
  let sentCount = 0;
  const noteFailure = (session: SessionView, error: unknown): void => {
    if (isOver(error)) {
      outcome.overCount += 1;
      return;
    }
    outcome.unsent.push(unsentFor(session, error));
    if (wouldFailAlike(error)) for (const next of left) outcome.unsent.push(unsentFor(next, error, false));
  };
  const sendOn = async (): Promise<void> => {
    for (const session of left) {
      if (stop.aborted) {
        outcome.unsent.push(unsentFor(session, STOPPED, false));
        continue;
      }
      await send(session.session_id).catch((error: unknown) => noteFailure(session, error));
      sentCount += 1;
      onSent(sentCount);
    }
  };
  await Promise.all(Array.from({ length: SENT_AT_ONCE }, sendOn));
  return outcome;
}

const STOPPED = new Error('You stopped it.');

const isOver = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.reason === 'session_terminated' || error.reason === 'session_not_found');

const wouldFailAlike = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 401);

const unsentFor = (session: SessionView, error: unknown, wasSent = true): Unsent => ({
  session,
  wasSent,
  message: error instanceof Error ? error.message : String(error),
  isLoginOver: error instanceof ApiError && error.reason === 'unauthorized',
});
