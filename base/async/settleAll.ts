/**
 * Waits until every promise has settled, then returns the values or rejects with the first rejection. Therefore none of
 * the work is still running when the caller cleans up after a failure.
 */
export async function settleAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
