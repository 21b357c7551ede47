/**
 * Runs `runWithSignal` with a signal that aborts as soon as either signal does, with the same reason. Unlike
 * `AbortSignal.any`, this does not depend on garbage collection, and it leaves no listeners on long-lived signals.
 */
export async function withEitherSignal<T>(
  firstSignal: AbortSignal,
  secondSignal: AbortSignal,
  runWithSignal: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const combinedController = new AbortController();
  const abortWithReason = ({ reason }: AbortSignal) => combinedController.abort(reason);
  const abortFromFirst = () => abortWithReason(firstSignal);
  const abortFromSecond = () => abortWithReason(secondSignal);
  if (firstSignal.aborted) abortFromFirst();
  else if (secondSignal.aborted) abortFromSecond();
  firstSignal.addEventListener('abort', abortFromFirst);
  secondSignal.addEventListener('abort', abortFromSecond);
  try {
    return await runWithSignal(combinedController.signal);
  } finally {
    firstSignal.removeEventListener('abort', abortFromFirst);
    secondSignal.removeEventListener('abort', abortFromSecond);
  }
}
