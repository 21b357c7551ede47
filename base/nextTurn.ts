/** Lets whoever else waits for the event loop have a turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
