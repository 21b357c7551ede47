/**
 * Returns a function that runs `operation`, one run at a time. Calls during a run share the next run, so that every
 * caller waits for a run that starts after its call.
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
