/**
 * Returns a function that runs `operation` sequentially. Calls during a run share the next run, so that the latest
 * state always applies.
 */
export function coalesceCalls(operation: () => Promise<void>): () => Promise<void> {
  let currentCall: Promise<void> = Promise.resolve();
  let nextCall: Promise<void> | undefined;
  const runNext = () => {
    nextCall = undefined;
    return operation();
  };
  return () => {
    nextCall ??= currentCall.then(runNext, runNext);
    currentCall = nextCall;
    return currentCall;
  };
}
