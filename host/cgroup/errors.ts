/** The code of a system call's error (`ENOENT`, `EBUSY`, …), undefined for any other error. */
export const errorCode = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

export const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT';

/** Whether the host does not let this process do with cgroups as it likes, and never will. */
export const isForbidden = (error: unknown): boolean =>
  ['EROFS', 'EACCES', 'EPERM'].some((code) => code === errorCode(error));
