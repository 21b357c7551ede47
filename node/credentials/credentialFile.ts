/** A file of credentials: whatever lies there, it is read within bounds, and never twice at a time. */
import { readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../base/failure.ts';
import { startTimeLimit } from '../../base/timeLimit.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';

/** In milliseconds; a request waits for it, and so does a lease. */
const LONGEST_READ_MS = 3_000;

interface Options {
  readonly path: string;
  /** How it is called where something is wrong with it, with its path. */
  readonly place: string;
  readonly files?: FileSystem | undefined;
  readonly limitMs?: number;
}

export class CredentialFile {
  readonly #path: string;
  readonly place: string;
  readonly #files: FileSystem;
  readonly #limitMs: number;
  #reading: Promise<string> | undefined;
  /** A read that hangs in the kernel keeps one thread of few: until it ends there is no other. */
  #isHanging = false;

  constructor({ path, place, files = hostFiles, limitMs = LONGEST_READ_MS }: Options) {
    this.#path = path;
    this.place = place;
    this.#files = files;
    this.#limitMs = limitMs;
  }

  /** Its text, for all who ask meanwhile; rejects with what is wrong, after its place. */
  read(): Promise<string> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<string> {
    const late = new Error(`${this.place}: not read within ${this.#limitMs / 1000}s`);
    if (this.#isHanging) throw late;
    const limit = startTimeLimit(this.#limitMs);
    const text = textIn(this.#files, this.#path, limit.signal);
    this.#isHanging = true;
    const end = () => {
      this.#isHanging = false;
    };
    text.then(end, end);
    try {
      return await unlessAborted(text, limit.signal);
    } catch (error) {
      throw limit.signal.aborted
        ? late
        : new Error(`${this.place}: ${withoutCall(messageOf(error))}`, { cause: error });
    } finally {
      limit.clear();
    }
  }
}

async function textIn(files: FileSystem, path: string, signal: AbortSignal): Promise<string> {
  const found = await readTextFile(files, path, { signal });
  if (found === undefined) throw new Error('no such file');
  if ('noFile' in found) throw new Error(found.noFile);
  // Editors of some systems put a mark of the byte order before a text.
  return found.text.replace(/^\ufeff/, '');
}

/** Of "EACCES: permission denied, open '/path'" what does not say the path once more. */
const withoutCall = (message: string): string => message.replace(/, \w+ '.*'$/s, '');
