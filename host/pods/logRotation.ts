/** Rotates a container's log when it reaches its maximum size, compresses older files and removes the oldest. */
import path from 'node:path';
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { compressedName, findRotatedFiles, incompleteName, isCompressedName, type RotatedFiles } from './logNames.ts';

export interface LogToRotate {
  readonly files: FileSystem;
  /** Absolute path of the log. Rotated files are next to it as `<file>.<timestamp>` and `<file>.<timestamp>.gz`. */
  readonly file: string;
  readonly maxBytes: number;
  /** Maximum number of files, including the current one. */
  readonly maxFiles: number;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** Makes the runtime reopen the log at its path. */
  readonly reopen: () => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Rotates a log that has reached its maximum size. No output is lost, because the runtime writes to the old file until
 * it opens the new one.
 */
export async function rotateIfNeeded(log: LogToRotate): Promise<void> {
  const size = await readSize(log);
  // If an earlier rotation was interrupted after the rename, the runtime writes to the rotated file until it reopens
  // the log.
  if (size === undefined && (await listRotated(log)).files.length > 0) await log.reopen();
  if (size === undefined || size < log.maxBytes) return;
  const { files, unusedNames } = await listRotated(log);
  // Remove incomplete files and those that already have a compressed version.
  await Promise.all(unusedNames.map((file) => log.files.rm(file, { force: true })));
  const remainingNames = await removeOldest(log, files);
  for (const file of remainingNames) if (!isCompressedName(file)) await compressFile(log, file);
  await rotateLog(log);
}

/** Removes the oldest files, so that the maximum number is not exceeded after this rotation. */
async function removeOldest({ files, maxFiles }: LogToRotate, rotatedNames: readonly string[]): Promise<string[]> {
  const surplusCount = Math.max(0, rotatedNames.length - Math.max(0, maxFiles - 2));
  await Promise.all(rotatedNames.slice(0, surplusCount).map((file) => files.rm(file, { force: true })));
  return rotatedNames.slice(surplusCount);
}

async function compressFile({ files, signal }: LogToRotate, file: string): Promise<void> {
  const incompleteFile = incompleteName(compressedName(file));
  await files.gzip(file, incompleteFile, signal);
  await files.rename(incompleteFile, compressedName(file));
  await files.rm(file, { force: true });
}

async function rotateLog(log: LogToRotate): Promise<void> {
  const { files, file, now, reopen, signal } = log;
  signal.throwIfAborted();
  const rotatedFile = `${file}.${formatTimestamp(now)}`;
  await files.rename(file, rotatedFile);
  try {
    await reopen();
  } catch (error) {
    // Restore the old name only if there is no new file. If there is one, the call succeeded although its response was
    // lost.
    if ((await readSize(log)) === undefined) await files.rename(rotatedFile, file);
    throw error;
  }
}

/** Formats a time as `20260131-235959` in UTC, so that the alphabetical order of names is chronological. */
function formatTimestamp(now: number): string {
  const [date = '', time = ''] = new Date(now).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}

/** Lists the paths of a log's rotated files. */
async function listRotated({ files, file }: LogToRotate): Promise<RotatedFiles> {
  const directory = path.dirname(file);
  const rotatedFiles = findRotatedFiles(path.basename(file), await defaultIfMissing(files.readdir(directory), []));
  const toPath = (name: string) => path.join(directory, name);
  return { files: rotatedFiles.files.map(toPath), unusedNames: rotatedFiles.unusedNames.map(toPath) };
}

const readSize = ({ files, file }: LogToRotate): Promise<number | undefined> =>
  defaultIfMissing(
    files.stat(file).then(({ size }) => size),
    undefined,
  );

async function defaultIfMissing<T, D>(operation: Promise<T>, defaultValue: D): Promise<T | D> {
  try {
    return await operation;
  } catch (error) {
    if (isMissing(error)) return defaultValue;
    throw error;
  }
}
