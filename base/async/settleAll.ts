/**
 * Waits until every promise has settled. Then resolves with the values or, if any promise was rejected, rejects like
 * the first rejected one in the order of `promises`. Therefore, none of the work is still running when the caller
 * cleans up after a failure.
 */
export async function settleAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
