/**
 * Returns a function that runs `act` sequentially. Calls during a run share the next run, so that the latest state
 * always applies.
 */
export function coalesceCalls(act: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const runNext = () => {
    next = undefined;
    return act();
  };
  return () => {
    next ??= current.then(runNext, runNext);
    current = next;
    return current;
  };
}
