/**
 * Returns a promise that settles like `promise` or, if the signal aborts first, rejects with the signal's reason. The
 * work behind `promise` continues.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    // Subscribe even if the signal has already aborted, because an unhandled rejection of `promise` would crash the
    // process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
