/** Settles like `reply`, or rejects with what `onTimeout` makes. The reply may come later; nobody hears it then. */
export function inTime<T>(reply: Promise<T>, timeoutMs: number, onTimeout: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // After one look at the socket: if this process was busy for that long, the reply may lie there already.
    const timer = setTimeout(() => setImmediate(() => reject(onTimeout())), timeoutMs);
    reply.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
