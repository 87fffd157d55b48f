/** The operator's commands to a session. */
import type { Command, CommandAnswer, HitlCommand } from '#contracts';
import { api } from './client';

/** What an agent does once it is let go on rests on these. */
const CHANGES: readonly Command[] = ['inject', 'rewrite'];

/** Of those, the ones on their way, by session. */
const changesUnderWay = new Map<string, Set<Promise<CommandAnswer>>>();

/**
 * Rejects with an ApiError. Its effect arrives over `session:{id}` and `gateway:sessions`, for every operator.
 *
 * Two requests may overtake each other, and guidance that comes after the resume misses the call it was written for. So a resume waits
 * for the changes sent before it, and is not sent if one of them failed: it then rejects with what that one did.
 */
export async function sendCommand(
  sessionId: string,
  { command, ...body }: HitlCommand,
): Promise<CommandAnswer> {
  if (command === 'resume') await Promise.all(changesUnderWay.get(sessionId) ?? []);
  const answer = api.post<CommandAnswer>(`/v1/sessions/${encodeURIComponent(sessionId)}/${command}`, body);
  return CHANGES.includes(command) ? noteChange(sessionId, answer) : answer;
}

async function noteChange(sessionId: string, answer: Promise<CommandAnswer>): Promise<CommandAnswer> {
  const underWay = changesUnderWay.get(sessionId) ?? new Set();
  changesUnderWay.set(sessionId, underWay.add(answer));
  try {
    return await answer;
  } finally {
    underWay.delete(answer);
    if (underWay.size === 0) changesUnderWay.delete(sessionId);
  }
}
