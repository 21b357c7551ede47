/**
 * Resolves after the event loop has polled for I/O. An immediate that is set by an I/O callback runs before the next
 * poll, so a second one is needed.
 */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
