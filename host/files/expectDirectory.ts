import { dirname } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { errorCode } from './fileErrors.ts';
import { type FileSystem, hostFiles } from './fileSystem.ts';

/**
 * Sees to it that nothing else lies where a directory is to be; one that is not there yet can be made. Throws a
 * `NodeFailure` that names what is in the way, be it above the directory.
 */
export async function expectDirectory(directory: string, files: FileSystem = hostFiles): Promise<void> {
  const found = await files.stat(directory).catch((error: unknown) => errorCode(error));
  if (found === 'ENOTDIR') return expectDirectory(dirname(directory), files);
  if (typeof found === 'object') {
    if (!found.isDirectory()) throw inTheWay(directory, found.isFile() ? 'a file' : 'something else');
  } else if (found === 'ENOENT' && (await files.lstat(directory).catch(() => undefined)) !== undefined) {
    throw inTheWay(directory, 'a dangling symbolic link');
  }
  // What else the system says is told by whoever makes the directory.
}

const inTheWay = (path: string, what: string): NodeFailure =>
  new NodeFailure('RootDirectoryUnusable', `${path}: expected a directory, found ${what}`);
