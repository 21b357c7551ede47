/**
 * Waits until every promise has settled, then returns the values or rejects with the first rejection. After a failure,
 * the caller can clean up without any of the work still running.
 */
export async function settleAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
