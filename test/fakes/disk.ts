/** A disk in memory on which one of the calls of a story goes wrong, each in its turn. */
import { seededRandom } from '../../cri/simulated/objects/ids.ts';
import { FaultInjector, type FileCall, type FileFault } from '../../host/simulated/faultyCalls.ts';
import type { Gate } from '../../host/simulated/gate.ts';
import { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../host/simulated/memoryFiles.ts';

/** The one call that goes wrong: by its number, from 0. */
export interface Trouble {
  readonly at: number;
  readonly fault: FileFault;
}

/** A disk as it is seen by one who may meet trouble, and by others. */
export class TroubledDisk {
  readonly disk: MemoryDisk;
  /** Those of the story. */
  readonly files: MemoryFiles;
  /** For what is mounted in the story: its calls count as well. */
  readonly gate: Gate;
  /** Without trouble: as a later process has them, or who looks on. */
  readonly sound: MemoryFiles;
  readonly calls: FileCall[] = [];
  #trouble: Trouble | undefined;

  constructor(now: () => number) {
    this.disk = new MemoryDisk(now);
    this.sound = new MemoryFiles(this.disk);
    const faults = (call: FileCall) => this.#faultOf(call);
    this.files = new MemoryFiles(this.disk, faults);
    const calls = new FaultInjector(faults);
    this.gate = ({ name, about, writes }, act) => calls.run({ call: name, path: about, writes }, act);
  }

  /** Counts the calls anew. After one that hangs all others hang as well: the process has died. */
  meet(trouble: Trouble | undefined): void {
    this.calls.length = 0;
    this.#trouble = trouble;
  }

  /** Lets the power fail; of what was not synced the seed decides. */
  cutPower(seed: number): void {
    this.disk.cutPower(seededRandom(seed));
  }

  #faultOf(call: FileCall): FileFault | undefined {
    const at = this.calls.push(call) - 1;
    const trouble = this.#trouble;
    if (trouble === undefined || at < trouble.at) return undefined;
    if (at === trouble.at) return trouble.fault;
    return 'hangs' in trouble.fault ? { hangs: true } : undefined;
  }
}

/** All that can go wrong with a call at a disk. */
export function failuresOf({ call, writes }: FileCall): Extract<FileFault, { readonly code: unknown }>[] {
  const codes = [
    'EIO',
    ...(writes ? (['ENOSPC', 'EROFS'] as const) : []),
    ...(['open', 'watch'].includes(call) ? (['EMFILE'] as const) : []),
  ] as const;
  const late = writes ? [{ code: 'EIO', done: true } as const] : [];
  return [...codes.map((code) => ({ code })), ...late];
}

/** The ways in which a process dies at a call. */
export const deaths: readonly FileFault[] = [{ hangs: true }, { hangs: true, done: true }];
