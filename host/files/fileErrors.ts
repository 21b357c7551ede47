/** Tells the errors of system calls apart: by their shape, as each realm has an `Error` of its own. */

/** The code of a system call's error (`ENOENT`, `EBUSY`, …), undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the error says that a path does not exist. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether a file could not be opened because too many are open, in this process or on the host: it says nothing of the file. */
export const lacksFiles = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(errorCode(error) ?? '');

/** What an error says, without the name of its class. */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  return String(error.message);
}
