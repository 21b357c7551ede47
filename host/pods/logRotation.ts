/** Keeps a container's log within its size: it is set aside, older ones are compressed, the oldest go. */
import path from 'node:path';
import { isMissing } from '../files/fileErrors.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { compressedName, halfWrittenName, isCompressedName, type SetAside, setAsideOf } from './logNames.ts';

export interface LogToTend {
  readonly files: FileSystem;
  /** Absolute; what is set aside lies beside it, as `<file>.<moment>` and `<file>.<moment>.gz`. */
  readonly file: string;
  readonly maxBytes: number;
  /** The file that is written to and those that were set aside. */
  readonly maxFiles: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Makes the runtime write to the file's path from now on, whatever became of the file that it had open. */
  readonly reopen: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Rotates a log that has reached its size. Nothing is lost: the runtime writes to the old file until it opens the new. */
export async function tendLog(log: LogToTend): Promise<void> {
  const size = await sizeOf(log);
  // A rotation that was cut off after its rename: the runtime still writes to what was set aside.
  if (size === undefined && (await rotatedOf(log)).files.length > 0) await log.reopen();
  if (size === undefined || size < log.maxBytes) return;
  const { files, unused } = await rotatedOf(log);
  // What is half-written, and what has a compressed version already.
  await Promise.all(unused.map((each) => log.files.rm(each, { force: true })));
  const aside = await removeSurplus(log, files);
  for (const file of aside) if (!isCompressedName(file)) await compress(log, file);
  await setAside(log);
}

/** The oldest, so that with the present file and the one that it becomes there are as many as may be. */
async function removeSurplus({ files, maxFiles }: LogToTend, aside: readonly string[]): Promise<string[]> {
  const surplus = Math.max(0, aside.length - Math.max(0, maxFiles - 2));
  await Promise.all(aside.slice(0, surplus).map((each) => files.rm(each, { force: true })));
  return aside.slice(surplus);
}

async function compress({ files, signal }: LogToTend, file: string): Promise<void> {
  const half = halfWrittenName(compressedName(file));
  await files.gzip(file, half, signal);
  await files.rename(half, compressedName(file));
  await files.rm(file, { force: true });
}

async function setAside(log: LogToTend): Promise<void> {
  const { files, file, now, reopen, signal } = log;
  signal.throwIfAborted();
  const aside = `${file}.${momentOf(now)}`;
  await files.rename(file, aside);
  try {
    await reopen();
  } catch (error) {
    // Its answer may have been lost: then there is a new file already, and what stands in it stays.
    if ((await sizeOf(log)) === undefined) await files.rename(aside, file);
    throw error;
  }
}

/** `20260131-235959` in UTC, so that the names' order is that of time. */
function momentOf(now: number): string {
  const [date = '', time = ''] = new Date(now).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}

/** What was set aside of a log, by paths. */
async function rotatedOf({ files, file }: LogToTend): Promise<SetAside> {
  const directory = path.dirname(file);
  const names = setAsideOf(path.basename(file), await orMissing(files.readdir(directory), []));
  const inFolder = (name: string) => path.join(directory, name);
  return { files: names.files.map(inFolder), unused: names.unused.map(inFolder) };
}

const sizeOf = ({ files, file }: LogToTend): Promise<number | undefined> =>
  orMissing(
    files.stat(file).then(({ size }) => size),
    undefined,
  );

async function orMissing<T, D>(look: Promise<T>, instead: D): Promise<T | D> {
  try {
    return await look;
  } catch (error) {
    if (isMissing(error)) return instead;
    throw error;
  }
}
