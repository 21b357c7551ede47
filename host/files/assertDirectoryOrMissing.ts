import { dirname } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { errorCode } from './fileErrors.ts';
import { type FileSystem, hostFiles } from './fileSystem.ts';

/**
 * Checks that a path is a directory or does not exist. Throws a `NodeFailure` that names the obstacle, which may be a
 * parent of the path.
 */
export async function assertDirectoryOrMissing(directory: string, files: FileSystem = hostFiles): Promise<void> {
  const stats = await files.stat(directory).catch((error: unknown) => errorCode(error));
  if (stats === 'ENOTDIR') return assertDirectoryOrMissing(dirname(directory), files);
  if (typeof stats === 'object') {
    if (!stats.isDirectory()) throw obstacleFailure(directory, stats.isFile() ? 'a file' : 'something else');
  } else if (stats === 'ENOENT' && (await files.lstat(directory).catch(() => undefined)) !== undefined) {
    throw obstacleFailure(directory, 'a dangling symbolic link');
  }
  // Other errors are reported when the directory is created.
}

const obstacleFailure = (path: string, description: string): NodeFailure =>
  new NodeFailure('RootDirectoryUnusable', `${path}: expected a directory, found ${description}`);
