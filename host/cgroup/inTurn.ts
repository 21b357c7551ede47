/** One after the other, so that the last word stands; who comes while one is at work shares the next. */
export function inTurn(act: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const actNext = () => {
    next = undefined;
    return act();
  };
  return () => {
    next ??= last.then(actNext, actNext);
    last = next;
    return last;
  };
}
