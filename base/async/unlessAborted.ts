/**
 * Returns a promise that settles like `promise`, or rejects with the reason of the signal if it aborts first. The work
 * behind `promise` continues.
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
