/** Classifies errors of system calls by their code, because every realm has its own `Error` class. */

/** Returns the code of a system call's error (`ENOENT`, `EBUSY`, …), or undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Whether the error means that nothing exists at a path. This is also the case if a name in the path is too long for
 * any file.
 */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || isTooLong(error);
}

/** Whether a name in a path is too long for the file system, in which case nothing can be created there. */
export const isTooLong = (error: unknown): boolean => errorCode(error) === 'ENAMETOOLONG';

/**
 * Whether a file could not be opened because this process or the host has too many open files. Such an error says
 * nothing about the file.
 */
export const isOutOfDescriptors = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(errorCode(error) ?? '');

/**
 * Error codes that mean a temporary shortage of resources on the host. EIO is not included, because a damaged sector
 * stays damaged and affects only one file.
 */
const RESOURCE_SHORTAGE_CODES: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EAGAIN',
  'ENOBUFS',
  'EINTR',
]);

/**
 * Whether the host rejected a call because of a temporary shortage of resources. The error says nothing about the file
 * or program, so the call should be retried.
 */
export const isResourceShortage = (error: unknown): boolean => RESOURCE_SHORTAGE_CODES.has(errorCode(error) ?? '');

/**
 * Linux error numbers EBADMSG and EUCLEAN, which ext4 and XFS return for damaged blocks. Node.js has no names for them.
 */
const DAMAGE_ERRNOS: ReadonlySet<unknown> = new Set([-74, -117]);

/** Whether the disk failed to read or write, e.g. because of a damaged sector. The file may exist. */
export const isDiskFault = (error: unknown): boolean =>
  errorCode(error) === 'EIO' ||
  (typeof error === 'object' && error !== null && 'errno' in error && DAMAGE_ERRNOS.has(error.errno));

/**
 * Returns a rejection handler that resolves to `value` if a file is unreadable. The handler rethrows errors due to a
 * shortage of resources on the host.
 */
export const defaultIfUnreadable =
  <T>(value: T) =>
  (error: unknown): T => {
    if (isResourceShortage(error)) throw error;
    return value;
  };

/** Whether the error means that the host does not permit the failed operation and would not permit a retry either. */
export const isForbidden = (error: unknown): boolean => ['EROFS', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '');
