/**
 * Waits until every promise has settled, and then resolves with the values or rejects with the reason of the first
 * rejection. No work is therefore still running when the caller cleans up after a failure.
 */
export async function settleAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
