/** Files in memory on which individual calls hang until they are released, or fail. */
import type { OpenFile } from '../../host/files/fileSystem.ts';
import { fileError } from '../../host/simulated/fileError.ts';
import type { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../host/simulated/memoryFiles.ts';

type Call = 'open' | 'writeFile' | 'sync' | 'close' | 'rename' | 'rm';

interface Rule {
  readonly call: Call;
  readonly path: RegExp;
  times: number;
  /** Undefined if the call fails instead of hanging. */
  readonly released: Promise<void> | undefined;
}

export class HangingFiles extends MemoryFiles {
  override readonly threadCount = 4;
  /** Number of calls that currently hang. */
  hanging = 0;
  /** The target paths of all renames, in order. */
  readonly renamed: string[] = [];
  readonly #rules: Rule[] = [];

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

  /** Makes the next `times` matching calls hang before they take effect. The returned function releases them. */
  hold(call: Call, path: RegExp, times = 1): () => void {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    this.#rules.push({ call, path, times, released });
    return resolve;
  }

  /** Makes the next matching call fail before it takes effect. */
  failOnce(call: Call, path: RegExp): void {
    this.#rules.push({ call, path, times: 1, released: undefined });
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
    const rule = this.#rules.find((each) => each.call === call && each.times > 0 && each.path.test(path));
    if (rule === undefined) return;
    rule.times -= 1;
    if (rule.released === undefined) throw fileError('EIO', call, path);
    this.hanging += 1;
    await rule.released;
    this.hanging -= 1;
  }
}
