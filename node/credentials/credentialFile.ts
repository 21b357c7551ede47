import { readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf } from '../../base/failure.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';

/** Default timeout of a read in milliseconds. It is short, because requests and lease renewals wait for the read. */
const READ_TIMEOUT_MS = 3_000;

interface CredentialFileOptions {
  readonly path: string;
  /** Prefix of error messages. It contains the path. */
  readonly errorPrefix: string;
  readonly files?: FileSystem | undefined;
  readonly timeoutMs?: number;
}

/** A file with credentials. It is read with a size limit and a timeout, and never concurrently. */
export class CredentialFile {
  readonly #path: string;
  readonly errorPrefix: string;
  readonly #files: FileSystem;
  readonly #limitMs: number;
  #pendingRead: Promise<string> | undefined;
  /**
   * Whether a read is still running. In this case no other read is started, because each read that hangs in the kernel
   * blocks a thread.
   */
  #isReadRunning = false;

  constructor({ path, errorPrefix, files = hostFiles, timeoutMs = READ_TIMEOUT_MS }: CredentialFileOptions) {
    this.#path = path;
    this.errorPrefix = errorPrefix;
    this.#files = files;
    this.#limitMs = timeoutMs;
  }

  /**
   * Reads the contents of the file. Concurrent callers share one read. Rejects with an error that starts with
   * `errorPrefix`.
   */
  read(): Promise<string> {
    this.#pendingRead ??= this.#readFile().finally(() => {
      this.#pendingRead = undefined;
    });
    return this.#pendingRead;
  }

  async #readFile(): Promise<string> {
    const timeoutError = new Error(`${this.errorPrefix}: not read within ${this.#limitMs / 1000}s`);
    if (this.#isReadRunning) throw timeoutError;
    const limit = startTimeLimit(this.#limitMs);
    const contents = readContents(this.#files, this.#path, limit.signal);
    this.#isReadRunning = true;
    const onSettled = () => {
      this.#isReadRunning = false;
    };
    contents.then(onSettled, onSettled);
    try {
      return await unlessAborted(contents, limit.signal);
    } catch (error) {
      throw limit.signal.aborted
        ? timeoutError
        : new Error(`${this.errorPrefix}: ${withoutPath(messageOf(error))}`, { cause: error });
    } finally {
      limit.clear();
    }
  }
}

async function readContents(files: FileSystem, path: string, signal: AbortSignal): Promise<string> {
  const file = await readTextFile(files, path, { signal });
  if (file === undefined) throw new Error('no such file');
  if ('noFile' in file) throw new Error(file.noFile);
  // Remove the byte order mark that some editors write.
  return file.text.replace(/^\ufeff/, '');
}

/**
 * Removes the name of the system call and the path from a message such as "EACCES: permission denied, open '/path'".
 */
const withoutPath = (message: string): string => message.replace(/, \w+ '.*'$/s, '');
