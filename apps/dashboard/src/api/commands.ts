/** The operator's commands to a session. */
import type { CommandAnswer, HitlCommand } from '#contracts';
import { api } from './client';

/** Rejects with an ApiError. Its effect arrives over `session:{id}` and `gateway:sessions`, for every operator. */
export function sendCommand(sessionId: string, { command, ...body }: HitlCommand): Promise<CommandAnswer> {
  return api.post<CommandAnswer>(`/v1/sessions/${encodeURIComponent(sessionId)}/${command}`, body);
}
