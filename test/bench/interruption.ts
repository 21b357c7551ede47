const asked = new AbortController();

/** Aborts when the bench is interrupted, which terminates everything that it has started. */
export const interruption: AbortSignal = asked.signal;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => asked.abort(new Error(`killed by ${name}`)));
}

/** Returns the result of the work, or rejects when the bench is interrupted. */
export function orInterrupted<T>(work: Promise<T>): Promise<T> {
  interruption.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  interruption.addEventListener('abort', () => reject(interruption.reason), { once: true });
  return Promise.race([work, promise]);
}
