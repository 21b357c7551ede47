/** Stores the checkpoint of a resource manager in the kubelet's file below the root directory. */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { replaceFile } from '../../host/files/replaceFile.ts';

export class CheckpointFile {
  readonly path: string;
  readonly #files: FileSystem;
  readonly #manager: string;
  #lastWrite: Promise<void> = Promise.resolve();

  /** `manager` is the name of the file's owner in the kubelet's messages, e.g. `CPU manager`. */
  constructor(
    files: FileSystem,
    rootDir: string,
    { name, manager }: { readonly name: string; readonly manager: string },
  ) {
    this.path = join(rootDir, name);
    this.#files = files;
    this.#manager = manager;
  }

  /**
   * Reads and parses the file. Returns undefined if there is none. Rejects with the kubelet's message if it cannot be
   * read or parsed.
   */
  async read<T>(parse: (text: string) => T): Promise<T | undefined> {
    try {
      return parse(await this.#files.readFile(this.path));
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      const advice = `please drain this node and delete the ${this.#manager} checkpoint file ${JSON.stringify(this.path)} before restarting Kubelet`;
      throw new NodeFailure(
        'InvalidConfig',
        `could not restore state from checkpoint: ${messageOf(cause)}, ${advice}`,
        {
          cause,
        },
      );
    }
  }

  /** Returns the failure to report if the agent's policy or host contradicts the file. */
  contradiction(problem: string): NodeFailure {
    return new NodeFailure('InvalidConfig', `${problem}, please drain node and remove policy state file ${this.path}`);
  }

  /** Replaces the file durably and atomically. Concurrent calls are serialized. */
  write(text: string): Promise<void> {
    const write = this.#lastWrite.then(() => replaceFile(this.#files, this.path, { content: text, mode: 0o600 }));
    this.#lastWrite = write.catch(() => {});
    return write;
  }
}
