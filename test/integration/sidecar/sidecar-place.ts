/** A folder with the path of a socket in it, short enough for one, and what a test needs around that. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoopQuery, SidecarCallOptions } from '#contracts';

export interface SidecarPlace {
  folder: string;
  socketPath: string;
  remove(): void;
}

export function makePlace(): SidecarPlace {
  const folder = mkdtempSync(join(tmpdir(), 'obs-sc-'));
  return {
    folder,
    socketPath: join(folder, 's.sock'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const patient: SidecarCallOptions = { timeoutMs: 20_000, traceParent: null };

export const query = (request_id: string, prompt: string, over: Partial<LoopQuery> = {}): LoopQuery => ({
  tenant_id: 'tenant',
  session_id: 'session',
  request_id,
  prompt,
  threshold: null,
  ...over,
});
