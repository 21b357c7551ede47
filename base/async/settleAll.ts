/**
 * Waits until every promise has settled, then returns their values or rejects with the first rejection. A caller that
 * cleans up after a failure can rely on none of the work still running.
 */
export async function settleAll<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
