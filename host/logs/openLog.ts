/**
 * Opens the files of a log in a consistent state, even if a rotation renames, compresses or removes them at the same
 * time.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../files/fileErrors.ts';
import { openWithin } from '../files/safeOpen.ts';
import { findRotatedFiles, plainName } from '../pods/logNames.ts';

/** Location of the log of one container run. */
export interface LogLocation {
  /** Directory of all pods' logs. Links in it are not followed. */
  readonly root: string;
  /** Absolute path of the container's log directory, which is below `root`. */
  readonly directory: string;
  /** Number of the run, e.g. `3` for `3.log`. */
  readonly run: number;
}

/** An open file of a log, which remains readable if it is renamed or removed. */
export interface LogFile {
  /** Path to show in messages. */
  readonly path: string;
  readonly handle: FileHandle;
}

/** The open files of a log. */
export interface OpenLog {
  /** Files of the log, oldest first. The last one is the current file, to which the runtime writes. */
  readonly files: readonly LogFile[];
  /** Names of all rotated files that have been opened, without the suffix for compression. */
  readonly knownNames: ReadonlySet<string>;
}

/** Directory of a container's logs. */
export interface LogDirectory {
  /** Path that refers to the directory through an open handle, so it stays valid if the directory is renamed. */
  readonly path: string;
  open(): Promise<OpenLog>;
  /**
   * Opens the rotated files that are not in `knownNames`, oldest first, and then the current file. Files that do not
   * exist are omitted.
   */
  openNewFiles(knownNames: ReadonlySet<string>): Promise<OpenLog>;
  /** Whether the given file is still the current file of the log. */
  isCurrent(file: LogFile): Promise<boolean>;
  /** Whether the directory has been removed. */
  isRemoved(): Promise<boolean>;
  close(): Promise<void>;
}

/** Flags that avoid blocking on special files and do not follow links. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/**
 * Maximum number of attempts to open all files. A log rotates at most once every few seconds, so it is very unlikely
 * that every attempt coincides with a rotation.
 */
const MAX_ATTEMPTS = 20;

/** Opens the directory of a log. Returns undefined if it does not exist. */
export async function openLogDirectory({ root, directory, run }: LogLocation): Promise<LogDirectory | undefined> {
  const handle = await openWithin(root, relative(root, directory), { shouldCreate: false }).catch((cause: unknown) => {
    if (isMissing(cause)) return undefined;
    throw new NodeFailure('FailedRead', `${directory}: ${messageOf(cause)}`, { cause });
  });
  return handle && new OpenLogDirectory(handle, directory, `${run}.log`);
}

class OpenLogDirectory implements LogDirectory {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #displayPath: string;
  readonly #logName: string;

  constructor(handle: FileHandle, displayPath: string, logName: string) {
    this.path = `/proc/self/fd/${handle.fd}`;
    this.#handle = handle;
    this.#displayPath = displayPath;
    this.#logName = logName;
  }

  open = (): Promise<OpenLog> => this.openNewFiles(new Set());

  async openNewFiles(knownNames: ReadonlySet<string>): Promise<OpenLog> {
    for (let attempt = 1; ; attempt += 1) {
      const names = await this.#listRotated(knownNames);
      const files = await this.#openFiles([...names, this.#logName]);
      const isConsistent = files !== undefined && (await this.#isUnchanged(names, knownNames, files));
      if (files && (isConsistent || attempt === MAX_ATTEMPTS))
        return { files, knownNames: new Set([...knownNames, ...names.map(plainName)]) };
      await closeLogFiles(files ?? []);
      if (attempt === MAX_ATTEMPTS)
        throw new NodeFailure('FailedRead', `${this.#displayPath}: its files change all the time`);
    }
  }

  async isCurrent({ handle }: LogFile): Promise<boolean> {
    const [ownStats, currentStats] = [await handle.stat(), await this.#statCurrent()];
    return currentStats !== undefined && ownStats.ino === currentStats.ino && ownStats.dev === currentStats.dev;
  }

  async isRemoved(): Promise<boolean> {
    return (await this.#handle.stat()).nlink === 0;
  }

  close = (): Promise<void> => this.#handle.close();

  async #listRotated(knownNames: ReadonlySet<string>): Promise<readonly string[]> {
    const names = await readdir(this.path).catch(ignoreMissing);
    return findRotatedFiles(this.#logName, names ?? []).files.filter((name) => !knownNames.has(plainName(name)));
  }

  /**
   * Opens files. Returns undefined if a rotated file has been compressed or removed in the meantime. The current file
   * may be missing.
   */
  async #openFiles(names: readonly string[]): Promise<LogFile[] | undefined> {
    const files: LogFile[] = [];
    try {
      for (const name of names) {
        const handle = await open(`${this.path}/${name}`, READ_FLAGS).catch(ignoreMissing);
        if (handle !== undefined) files.push({ path: `${this.#displayPath}/${name}`, handle });
        else if (name !== this.#logName) return await closeLogFiles(files);
        if (handle && !(await handle.stat()).isFile()) throw new Error('it is not a regular file');
      }
    } catch (cause) {
      await closeLogFiles(files);
      throw new NodeFailure('FailedRead', `${this.#displayPath}: ${messageOf(cause)}`, { cause });
    }
    return files;
  }

  async #isUnchanged(
    names: readonly string[],
    knownNames: ReadonlySet<string>,
    files: readonly LogFile[],
  ): Promise<boolean> {
    const currentNames = await this.#listRotated(knownNames);
    if (currentNames.length !== names.length || currentNames.some((name, index) => name !== names[index])) return false;
    const currentFile = files.length > names.length ? files.at(-1) : undefined;
    return currentFile ? this.isCurrent(currentFile) : (await this.#statCurrent()) === undefined;
  }

  #statCurrent = () => lstat(`${this.path}/${this.#logName}`).catch(ignoreMissing);
}

export async function closeLogFiles(files: readonly LogFile[]): Promise<undefined> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
