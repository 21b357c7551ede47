/** Creates the errors of a simulated disk, with the codes and messages of Node.js. */

const ERROR_MESSAGES = {
  EACCES: 'permission denied',
  EBADF: 'bad file descriptor',
  EBUSY: 'resource busy or locked',
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links encountered',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'name too long',
  ENFILE: 'file table overflow',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  ERR_FS_EISDIR: 'path is a directory',
  EROFS: 'read-only file system',
} as const;

export type FileErrorCode = keyof typeof ERROR_MESSAGES;

/** Creates the error of a call on a path, without a stack, like the errors of `node:fs/promises`. */
export function fileError(code: FileErrorCode, syscall: string, path: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new Error(`${code}: ${ERROR_MESSAGES[code]}, ${syscall} '${path}'`);
  Error.stackTraceLimit = stackTraceLimit;
  return Object.assign(error, { code, syscall, path });
}
