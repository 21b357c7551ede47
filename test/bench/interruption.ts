const asked = new AbortController();

/** Aborts when the bench is to end early: what it started is ended then. */
export const interruption: AbortSignal = asked.signal;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => asked.abort(new Error(`killed by ${name}`)));
}

/** Gives what the work gives, or rejects when the bench is to end early. */
export function orInterrupted<T>(work: Promise<T>): Promise<T> {
  interruption.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  interruption.addEventListener('abort', () => reject(interruption.reason), { once: true });
  return Promise.race([work, promise]);
}
