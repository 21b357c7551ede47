/** A disk in memory on which a single call of a scenario fails. */
import { seededRandom } from '../../cri/simulated/objects/ids.ts';
import { FaultInjector, type FileCall, type FileFault } from '../../host/simulated/faultyCalls.ts';
import type { Gate } from '../../host/simulated/gate.ts';
import { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../host/simulated/memoryFiles.ts';

/** The call that fails, by its number counted from 0. */
export interface Trouble {
  readonly at: number;
  readonly fault: FileFault;
}

/** A disk with two views: one whose calls can fail, and one without faults. */
export class TroubledDisk {
  readonly disk: MemoryDisk;
  /** The files of the scenario, whose calls can fail. */
  readonly files: MemoryFiles;
  /** The gate for mounts in the scenario. Their calls are counted, and can fail, as well. */
  readonly gate: Gate;
  /** The same files without faults, as a later process or an observer sees them. */
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

  /**
   * Sets the fault, and restarts the count of calls at 0. After a call that hangs all later ones hang as well, because
   * the process has died.
   */
  meet(trouble: Trouble | undefined): void {
    this.calls.length = 0;
    this.#trouble = trouble;
  }

  /** Simulates a power failure. The seed determines which unsynced data is lost. */
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

/** Returns the failures that are possible for a call. */
export function failuresOf({ call, writes }: FileCall): Extract<FileFault, { readonly code: unknown }>[] {
  const codes = [
    'EIO',
    ...(writes ? (['ENOSPC', 'EROFS'] as const) : []),
    ...(['open', 'watch'].includes(call) ? (['EMFILE'] as const) : []),
  ] as const;
  const late = writes ? [{ code: 'EIO', done: true } as const] : [];
  return [...codes.map((code) => ({ code })), ...late];
}

/** The two ways in which a process can die at a call: before and after the call has taken effect. */
export const deaths: readonly FileFault[] = [{ hangs: true }, { hangs: true, done: true }];
