/** The errors of system calls in the words that Go has for them. */
import { errorCode } from '../../host/files/fileErrors.ts';
import { messageOf } from '../../pod/failure.ts';

const WORDS = new Map([
  ['EACCES', 'permission denied'],
  ['EISDIR', 'is a directory'],
  ['ELOOP', 'too many levels of symbolic links'],
  ['EMFILE', 'too many open files'],
  ['ENAMETOOLONG', 'file name too long'],
  ['ENFILE', 'too many open files in system'],
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'not a directory'],
  ['EPERM', 'operation not permitted'],
]);

/** What went wrong, without the names of files that Node.js adds. */
export const systemWords = (error: unknown): string => WORDS.get(errorCode(error) ?? '') ?? messageOf(error);
