/** Opens the files of a log, all as they were at one moment, while a rotation may rename, compress and remove them. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../files/fileErrors.ts';
import { openWithin } from '../files/safeOpen.ts';
import { plainName, setAsideOf } from '../pods/logNames.ts';

/** Where the log of a run of a container is. */
export interface LogPlace {
  /** The directory of all pods' logs; what lies in it leads nowhere else. */
  readonly root: string;
  /** The container's own, below it. */
  readonly directory: string;
  /** `3` of `3.log`. */
  readonly run: number;
}

/** A file of a log; that it is renamed or removed means nothing to who has it open. */
export interface LogFile {
  /** For messages. */
  readonly path: string;
  readonly handle: FileHandle;
}

/** The files of a log at one moment. */
export interface OpenLog {
  /** The oldest first; the last one is written to. */
  readonly files: readonly LogFile[];
  /** What had been set aside, by the names before compression. */
  readonly known: ReadonlySet<string>;
}

/** The directory of a container's logs, and what can be done there. */
export interface LogDirectory {
  /** As this process finds it, whatever becomes of its name. */
  readonly path: string;
  open(): Promise<OpenLog>;
  /** What was set aside and is not among the known, the oldest first, and then the present file; those that are there. */
  openNew(known: ReadonlySet<string>): Promise<OpenLog>;
  /** Whether a file is still the one that is written to. */
  isPresent(file: LogFile): Promise<boolean>;
  /** Whether the directory itself was removed. */
  isGone(): Promise<boolean>;
  close(): Promise<void>;
}

/** What is no plain file is not waited for, and no link is followed. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** A log is rotated every few seconds at most: a look that meets a rotation each time is past belief. */
const MOST_LOOKS = 20;

/** Opens the directory of a log; undefined where there is none yet. */
export async function openLogDirectory({ root, directory, run }: LogPlace): Promise<LogDirectory | undefined> {
  const handle = await openWithin(root, relative(root, directory), { make: false }).catch((cause: unknown) => {
    if (isMissing(cause)) return undefined;
    throw new NodeFailure('FailedRead', `${directory}: ${messageOf(cause)}`, { cause });
  });
  return handle && new Directory(handle, directory, `${run}.log`);
}

class Directory implements LogDirectory {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #shown: string;
  readonly #log: string;

  constructor(handle: FileHandle, shown: string, log: string) {
    this.path = `/proc/self/fd/${handle.fd}`;
    this.#handle = handle;
    this.#shown = shown;
    this.#log = log;
  }

  open = (): Promise<OpenLog> => this.openNew(new Set());

  async openNew(known: ReadonlySet<string>): Promise<OpenLog> {
    for (let looks = 1; ; looks += 1) {
      const names = await this.#namesBut(known);
      const files = await this.#openAll([...names, this.#log]);
      const isSame = files !== undefined && (await this.#isStill(names, known, files));
      if (files && (isSame || looks === MOST_LOOKS))
        return { files, known: new Set([...known, ...names.map(plainName)]) };
      await closeAll(files ?? []);
      if (looks === MOST_LOOKS) throw new NodeFailure('FailedRead', `${this.#shown}: its files change all the time`);
    }
  }

  async isPresent({ handle }: LogFile): Promise<boolean> {
    const [own, present] = [await handle.stat(), await this.#present()];
    return present !== undefined && own.ino === present.ino && own.dev === present.dev;
  }

  async isGone(): Promise<boolean> {
    return (await this.#handle.stat()).nlink === 0;
  }

  close = (): Promise<void> => this.#handle.close();

  async #namesBut(known: ReadonlySet<string>): Promise<readonly string[]> {
    const names = await readdir(this.path).catch(unlessMissing);
    return setAsideOf(this.#log, names ?? []).files.filter((name) => !known.has(plainName(name)));
  }

  /** Undefined where one that was set aside has been compressed or removed meanwhile; the present one may be missing. */
  async #openAll(names: readonly string[]): Promise<LogFile[] | undefined> {
    const files: LogFile[] = [];
    try {
      for (const name of names) {
        const handle = await open(`${this.path}/${name}`, READ).catch(unlessMissing);
        if (handle !== undefined) files.push({ path: `${this.#shown}/${name}`, handle });
        else if (name !== this.#log) return await closeAll(files);
        if (handle && !(await handle.stat()).isFile()) throw new Error('it is not a regular file');
      }
    } catch (cause) {
      await closeAll(files);
      throw new NodeFailure('FailedRead', `${this.#shown}: ${messageOf(cause)}`, { cause });
    }
    return files;
  }

  async #isStill(names: readonly string[], known: ReadonlySet<string>, files: readonly LogFile[]): Promise<boolean> {
    const now = await this.#namesBut(known);
    if (now.length !== names.length || now.some((name, at) => name !== names[at])) return false;
    const last = files.length > names.length ? files.at(-1) : undefined;
    return last ? this.isPresent(last) : (await this.#present()) === undefined;
  }

  #present = () => lstat(`${this.path}/${this.#log}`).catch(unlessMissing);
}

/** Closes files that nobody reads any more. */
export async function closeAll(files: readonly LogFile[]): Promise<undefined> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
