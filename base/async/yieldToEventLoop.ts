/**
 * Resolves after the event loop has polled for I/O. Uses two immediates, because an immediate that an I/O callback
 * schedules runs before the next poll.
 */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
