/** Resolves when a signal has aborted; never where there is none. */
export const untilAborted = (signal: AbortSignal | undefined): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve(undefined);
    signal?.addEventListener('abort', () => resolve(undefined), { once: true });
  });
