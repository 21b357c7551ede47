/** What a promise comes to, unless the signal aborts before: then its reason. Whatever others wait for goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const giveUp = () => fail(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    // Also where nobody waits any more: what nobody hears of would end the process.
    promise.then(done, fail).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
