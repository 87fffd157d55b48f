/**
 * For work that cannot be told to stop, such as looking up a name: rejects with the deadline's reason when that comes first,
 * or has come already. The work goes on, and nobody hears of how it ends.
 */
export async function withDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(deadline.reason);
    if (deadline.aborted) onAbort();
    else deadline.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    deadline.removeEventListener('abort', onAbort);
  }
}
