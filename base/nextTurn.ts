/** Resolves after other callbacks of the event loop have run. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
