/** What can go wrong when a model is fetched, each with its exit status. */

/** @typedef {'failed' | 'usage' | 'unreachable' | 'missing' | 'mismatch' | 'storage' | 'stopped'} PullProblem */

/** @type {Record<PullProblem, number>} */
export const EXIT_STATUS = {
  failed: 1,
  usage: 2,
  unreachable: 3,
  missing: 4,
  mismatch: 5,
  storage: 6,
  stopped: 130,
};

/** Its message is for people: what happened and what to do about it. */
export class PullError extends Error {
  /** @param {PullProblem} problem @param {string} message */
  constructor(problem, message) {
    super(message);
    this.name = 'PullError';
    this.problem = problem;
  }
}

/** The host refused, broke off or was silent: worth another try. */
export class TransferError extends Error {
  /** @param {string} message @param {{ unreachable?: boolean, retryAfterMs?: number | null }} [options] */
  constructor(message, { unreachable = false, retryAfterMs = null } = {}) {
    super(message);
    this.name = 'TransferError';
    this.unreachable = unreachable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @param {unknown} error @param {string} path @returns {Error} in words where it is the disk's doing, else the error itself */
export function storageProblem(error, path) {
  const { code } = /** @type {NodeJS.ErrnoException} */ (error ?? {});
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new PullError(
      'storage',
      `the disk is full at ${path}. Free some space and run this again: it goes on where it stopped.`,
    );
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new PullError('storage', `${path} can't be written to (${code}). Name another folder with --to.`);
  if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'EEXIST')
    return new PullError('storage', `${path} is in the way (${code}). Name another folder with --to.`);
  return error instanceof Error ? error : new Error(String(error));
}
