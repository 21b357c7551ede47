/** Until all is done, or has failed: whoever undoes it afterwards meets nobody who still does it. */
export async function allDone<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
