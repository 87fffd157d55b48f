/**
 * What went wrong with Redis, in words that may be logged. The client's own errors carry the command with its
 * arguments (a password, when it was AUTH) and a malformed URL carries itself; none of that gets through here.
 */

/**
 * `timeout`: no reply in time. `disconnected`: no connection, so nothing was sent, or it broke before the reply.
 * `busy`: too many replies are awaited already. `reply`: Redis answered with an error.
 */
export type RedisFailureReason = 'timeout' | 'disconnected' | 'busy' | 'reply';

/** Of a server that is alive, but not ready to serve. */
export const NOT_READY = ['LOADING', 'CLUSTERDOWN', 'MASTERDOWN', 'BUSY'] as const;

/**
 * A refusal that says nothing of the command: a master, or a server with room again, serves it. MOVED, ASK and TRYAGAIN are missing
 * here: a cluster's client follows them itself.
 */
const PASSING: ReadonlySet<string> = new Set([...NOT_READY, 'READONLY', 'OOM']);

export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';

  /** @param code of the system or of Redis, such as ECONNREFUSED or WRONGPASS; null when there is none */
  constructor(
    readonly reason: RedisFailureReason,
    readonly code: string | null = null,
  ) {
    super(code === null ? TEXTS[reason] : `${TEXTS[reason]} (${code})`);
  }

  /** Redis answered, and would answer so again. */
  get isAnswer(): boolean {
    return this.reason === 'reply' && !PASSING.has(this.code ?? '');
  }
}

const TEXTS: Record<RedisFailureReason, string> = {
  timeout: 'Redis did not reply in time',
  disconnected: 'Redis is not connected',
  busy: 'Too many replies of Redis are awaited',
  reply: 'Redis answered with an error',
};

/** Never throws; keeps nothing of the original but its code. */
export function toRedisFailure(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  if (!(error instanceof Error)) return new RedisFailure('disconnected');
  const { code } = error as NodeJS.ErrnoException;
  // Node's own codes; a reply of Redis has none.
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code))
    return new RedisFailure('disconnected', code);
  if (error.name === 'ReplyError') return new RedisFailure('reply', replyCode(error.message));
  return new RedisFailure('disconnected');
}

/** Of an error inside a script, Redis says ERR first and what it was further on; of an ACL and a database in words alone. */
function replyCode(message: string): string | null {
  if (/ -READONLY /.test(message)) return 'READONLY';
  if (/ -NOPERM |user executing the script can't|ACL failure in script/.test(message)) return 'NOPERM';
  if (/DB index/.test(message)) return 'no such database';
  return /^[A-Z]{2,20}\b/.exec(message)?.[0] ?? null;
}
