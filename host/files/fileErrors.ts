/** Tells the errors of system calls apart: by their shape, as each realm has an `Error` of its own. */

/** The code of a system call's error (`ENOENT`, `EBUSY`, …), undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Whether the error says that nothing exists at a path. A path with a name that is longer than any file's leads nowhere
 * either: nothing needs to be removed there.
 */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || isTooLong(error);
}

/** Whether a name in a path is longer than the file system can store, so that nothing can be created there. */
export const isTooLong = (error: unknown): boolean => errorCode(error) === 'ENAMETOOLONG';

/** Whether a file could not be opened because too many are open, in this process or on the host: it says nothing of the file. */
export const lacksFiles = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(errorCode(error) ?? '');

/**
 * Error codes of a host that has run out of something for now. EIO is not among them, because a damaged sector stays damaged
 * and concerns one file only.
 */
const HOST_REFUSALS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS', 'EINTR']);

/**
 * Whether the host refused a call for a cause beside the file or program, which may pass. The error says nothing about what
 * is there, so the call is worth another attempt and must not count as an answer.
 */
export const isHostRefusal = (error: unknown): boolean => HOST_REFUSALS.has(errorCode(error) ?? '');

/** Whether the disk failed to read or write, e.g. at a damaged sector: the file may well exist. */
export const isDiskFault = (error: unknown): boolean => errorCode(error) === 'EIO';

/** Returns a handler of failed reads that takes `value` for what cannot be read, and rethrows what the host refused. */
export const otherwise =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isHostRefusal(error)) throw error;
    return value;
  };

/** Whether the host does not let this process do as it likes, and never will. */
export const isForbidden = (error: unknown): boolean => ['EROFS', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '');
