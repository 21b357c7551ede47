/** Mounts file systems on a simulated disk and accesses volumes on it. */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { MountPoint } from '../../host/files/mountPoint.ts';
import type { Gate } from '../../host/simulated/gate.ts';
import type { Inode } from '../../host/simulated/inodes.ts';
import type { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { findMountAt } from '../../host/simulated/memoryMounts.ts';
import type { MountRequest } from '../mount/mount.ts';
import type { Mounter } from '../mount/mounter.ts';
import { groupMode, type Ownership } from '../ownership.ts';
import type { VolumeTask, VolumeTaskResult } from '../volumeTasks.ts';
import { bindSubPathInVolume, readFileInVolume } from './withinVolume.ts';

/** Mode of the root directory of a new file system, by type, as the kernel sets it. */
const ROOT_MODES: Readonly<Record<string, number>> = { tmpfs: 0o1777 };
const FILE_TYPE_BITS = { directory: constants.S_IFDIR, file: constants.S_IFREG, link: constants.S_IFLNK };

/**
 * The mounter of one agent on a simulated disk. The disk and its mounts survive the agent. Every call goes through the
 * gate, which can inject faults.
 */
export class SimulatedMounter implements Mounter {
  readonly #disk: MemoryDisk;
  readonly #gate: Gate;

  constructor(disk: MemoryDisk, gate: Gate) {
    this.#disk = disk;
    this.#gate = gate;
  }

  async mount({ target, type, signal }: MountRequest): Promise<void> {
    const operation = () => this.#disk.mount(type, target, lookUp(ROOT_MODES, type));
    await this.#runWrite('mount', target, { operation, signal }).catch((cause: unknown) => {
      throw new NodeFailure('FailedMount', `mounting ${type} at ${target}: ${messageOf(cause)}`, { cause });
    });
  }

  async unmount(target: string, signal: AbortSignal): Promise<void> {
    const operation = () => this.#disk.unmount(target);
    await this.#runWrite('unmount', target, { operation, signal }).catch(async (cause: unknown) => {
      signal.throwIfAborted();
      if ((await this.mountAt(target, signal)) === undefined) return;
      throw new NodeFailure('FailedUnmount', `unmounting ${target}: ${messageOf(cause)}`, { cause });
    });
  }

  mountAt(directory: string, signal: AbortSignal): Promise<MountPoint | undefined> {
    return this.#runRead('mountAt', directory, { operation: () => findMountAt(this.#disk, directory), signal });
  }

  async runTasks(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<readonly VolumeTaskResult[]> {
    const results: VolumeTaskResult[] = [];
    for (const task of tasks) results.push(await this.#runTask(task, signal));
    return results;
  }

  setOwnership(root: string, ownership: Ownership): Promise<void> {
    const operation = () => applyOwnership(this.#disk.inodeAt(root, 'lstat'), ownership);
    const partialOperation = () => applyOwnershipPartly(this.#disk.inodeAt(root, 'lstat'), ownership);
    return this.#runWrite('setOwnership', root, { operation, partialOperation, signal: ownership.signal });
  }

  fileTypeOf(target: string, signal: AbortSignal): Promise<number | undefined> {
    return this.#runRead('stat', target, { operation: () => readFileType(this.#disk, target), signal });
  }

  create(kind: 'directory' | 'file', target: string, signal: AbortSignal): Promise<void> {
    const operation = () => {
      if (kind === 'directory') this.#disk.createDirectories(target, 0o755);
      else this.#disk.openFile(target, { mode: 0o644 });
    };
    return this.#runWrite(kind === 'directory' ? 'mkdir' : 'touch', target, { operation, signal });
  }

  async #runTask(task: VolumeTask, signal: AbortSignal): Promise<VolumeTaskResult> {
    try {
      if (task.kind === 'bind') {
        await this.#runWrite('bind', task.target, { operation: () => bindSubPathInVolume(this.#disk, task), signal });
        return {};
      }
      const path = join(task.hostPath, task.path);
      return {
        text: await this.#runRead('read', path, { operation: () => readFileInVolume(this.#disk, task), signal }),
      };
    } catch (error) {
      signal.throwIfAborted();
      return { failure: messageOf(error) };
    }
  }

  #runRead<T>(name: string, path: string, { operation, signal }: GatedCall<T>): Promise<T> {
    return unlessAborted(this.#gate({ name, about: path, writes: false }, operation), signal);
  }

  #runWrite<T>(name: string, path: string, { operation, partialOperation, signal }: GatedCall<T>): Promise<T> {
    return unlessAborted(this.#gate({ name, about: path, writes: true }, operation, partialOperation), signal);
  }
}

interface GatedCall<T> {
  readonly operation: () => T;
  /** Performs only part of the operation, in order to simulate an interruption. */
  readonly partialOperation?: () => void;
  readonly signal: AbortSignal;
}

function readFileType(disk: MemoryDisk, target: string): number | undefined {
  try {
    return FILE_TYPE_BITS[disk.inodeAt(target, 'stat').kind];
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Changes half of the entries. Does not change the root, because that would mark the operation as complete. */
function applyOwnershipPartly(inode: Inode, ownership: Omit<Ownership, 'signal'>): void {
  if (inode.kind !== 'directory') return;
  const entries = [...inode.entries.values()];
  for (const entry of entries.slice(0, Math.ceil(entries.length / 2))) applyOwnership(entry, ownership);
}

function applyOwnership(inode: Inode, { fsGroup, readOnly, policy }: Omit<Ownership, 'signal'>): void {
  const requiredMode = groupMode(inode.kind === 'directory', readOnly);
  const hasCorrectOwnership = inode.gid === fsGroup && (inode.mode & requiredMode) === requiredMode;
  if (policy === 'OnRootMismatch' && hasCorrectOwnership) return;
  if (inode.kind === 'directory')
    for (const entry of inode.entries.values()) applyOwnership(entry, { fsGroup, readOnly });
  inode.gid = fsGroup;
  if (inode.kind !== 'link') inode.mode |= requiredMode;
}
