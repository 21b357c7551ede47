/** Files in memory of which single calls hang until they are let go, or fail. */
import type { OpenFile } from '../../host/files/fileSystem.ts';
import { fileError } from '../../host/simulated/fileError.ts';
import type { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../host/simulated/memoryFiles.ts';

type Call = 'open' | 'writeFile' | 'sync' | 'close' | 'rename' | 'rm';

interface Held {
  readonly call: Call;
  readonly path: RegExp;
  times: number;
  /** Without one it fails. */
  readonly goOn: Promise<void> | undefined;
}

export class HangingFiles extends MemoryFiles {
  override readonly threadCount = 4;
  /** How many calls hang now. */
  hanging = 0;
  /** What was put in its place, in that order. */
  readonly renamed: string[] = [];
  readonly #held: Held[] = [];

  constructor(disk: MemoryDisk) {
    super(disk);
    const { rename, rm } = this;
    this.rename = async (from, to) => {
      await this.#pass('rename', to);
      this.renamed.push(to);
      return rename(from, to);
    };
    this.rm = async (path, options) => {
      await this.#pass('rm', path);
      return rm(path, options);
    };
  }

  /** Lets so many of these calls hang, before they do anything; what it gives lets them go on. */
  hold(call: Call, path: RegExp, times = 1): () => void {
    const { promise: goOn, resolve } = Promise.withResolvers<void>();
    this.#held.push({ call, path, times, goOn });
    return resolve;
  }

  /** Lets one of these calls fail, before it does anything. */
  failOnce(call: Call, path: RegExp): void {
    this.#held.push({ call, path, times: 1, goOn: undefined });
  }

  override async open(path: string, flags: string | number, mode?: number): Promise<OpenFile> {
    await this.#pass('open', path);
    const file = await super.open(path, flags, mode);
    const passing = async <T>(call: Call, act: () => Promise<T>) => {
      await this.#pass(call, path);
      return act();
    };
    return {
      readFile: (options) => file.readFile(options),
      writeFile: (text) => passing('writeFile', () => file.writeFile(text)),
      sync: () => passing('sync', () => file.sync()),
      chmod: (rights) => file.chmod(rights),
      stat: () => file.stat(),
      close: () => passing('close', () => file.close()),
    };
  }

  async #pass(call: Call, path: string): Promise<void> {
    const held = this.#held.find((each) => each.call === call && each.times > 0 && each.path.test(path));
    if (held === undefined) return;
    held.times -= 1;
    if (held.goOn === undefined) throw fileError('EIO', call, path);
    this.hanging += 1;
    await held.goOn;
    this.hanging -= 1;
  }
}
