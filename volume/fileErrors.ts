/** Tells the errors of file system calls apart. */

/** The code of a file system error (`ENOENT`, `EBUSY`, …), undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the error says that a path does not exist. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
