/** Mounts in a disk in memory, and works in the volumes on it. */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { MountPoint } from '../../host/files/mountPoint.ts';
import type { Gate } from '../../host/simulated/gate.ts';
import type { Inode } from '../../host/simulated/inodes.ts';
import type { MemoryDisk } from '../../host/simulated/memoryDisk.ts';
import { mountAt } from '../../host/simulated/memoryMounts.ts';
import type { MountRequest } from '../mount.ts';
import type { Mounter } from '../mounter.ts';
import { type Ownership, rightsOf } from '../ownership.ts';
import type { VolumeAnswer, VolumeTask } from '../volumeTasks.ts';
import { bindWithin, readWithin } from './withinVolume.ts';

/** Rights of the root of a new file system, as the kernel gives them. */
const ROOT_RIGHTS: Readonly<Record<string, number>> = { tmpfs: 0o1777 };
const KINDS = { directory: constants.S_IFDIR, file: constants.S_IFREG, link: constants.S_IFLNK };

/** What one agent does with the mounts of a disk, which outlive it. Each call passes the gate. */
export class SimulatedMounter implements Mounter {
  readonly #disk: MemoryDisk;
  readonly #gate: Gate;

  constructor(disk: MemoryDisk, gate: Gate) {
    this.#disk = disk;
    this.#gate = gate;
  }

  async mount({ target, type, signal }: MountRequest): Promise<void> {
    const act = () => this.#disk.mount(type, target, lookUp(ROOT_RIGHTS, type));
    await this.#write('mount', target, { act, signal }).catch((cause: unknown) => {
      throw new NodeFailure('FailedMount', `mounting ${type} at ${target}: ${messageOf(cause)}`, { cause });
    });
  }

  async unmount(target: string, signal: AbortSignal): Promise<void> {
    const act = () => this.#disk.unmount(target);
    await this.#write('unmount', target, { act, signal }).catch(async (cause: unknown) => {
      signal.throwIfAborted();
      if ((await this.mountAt(target, signal)) === undefined) return;
      throw new NodeFailure('FailedUnmount', `unmounting ${target}: ${messageOf(cause)}`, { cause });
    });
  }

  mountAt(directory: string, signal: AbortSignal): Promise<MountPoint | undefined> {
    return this.#read('mountAt', directory, { act: () => mountAt(this.#disk, directory), signal });
  }

  async inVolumes(tasks: readonly VolumeTask[], signal: AbortSignal): Promise<readonly VolumeAnswer[]> {
    const answers: VolumeAnswer[] = [];
    for (const task of tasks) answers.push(await this.#answerTo(task, signal));
    return answers;
  }

  setOwnership(root: string, ownership: Ownership): Promise<void> {
    const act = () => own(this.#disk.at(root, 'lstat'), ownership);
    const partly = () => ownHalf(this.#disk.at(root, 'lstat'), ownership);
    return this.#write('setOwnership', root, { act, partly, signal: ownership.signal });
  }

  kindOf(target: string, signal: AbortSignal): Promise<number | undefined> {
    return this.#read('stat', target, { act: () => kindAt(this.#disk, target), signal });
  }

  make(kind: 'directory' | 'file', target: string, signal: AbortSignal): Promise<void> {
    const act = () => {
      if (kind === 'directory') this.#disk.makeDirectories(target, 0o755);
      else this.#disk.openFile(target, { mode: 0o644 });
    };
    return this.#write(kind === 'directory' ? 'mkdir' : 'touch', target, { act, signal });
  }

  async #answerTo(task: VolumeTask, signal: AbortSignal): Promise<VolumeAnswer> {
    try {
      if (task.kind === 'bind') {
        await this.#write('bind', task.target, { act: () => bindWithin(this.#disk, task), signal });
        return {};
      }
      const about = join(task.hostPath, task.path);
      return { text: await this.#read('read', about, { act: () => readWithin(this.#disk, task), signal }) };
    } catch (error) {
      signal.throwIfAborted();
      return { failure: messageOf(error) };
    }
  }

  #read<T>(name: string, about: string, { act, signal }: Call<T>): Promise<T> {
    return unlessAborted(this.#gate({ name, about, writes: false }, act), signal);
  }

  #write<T>(name: string, about: string, { act, partly, signal }: Call<T>): Promise<T> {
    return unlessAborted(this.#gate({ name, about, writes: true }, act, partly), signal);
  }
}

interface Call<T> {
  readonly act: () => T;
  /** Does a part of it. */
  readonly partly?: () => void;
  readonly signal: AbortSignal;
}

function kindAt(disk: MemoryDisk, target: string): number | undefined {
  try {
    return KINDS[disk.at(target, 'stat').kind];
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The root comes last: it tells whether all is done. */
function ownHalf(inode: Inode, ownership: Omit<Ownership, 'signal'>): void {
  if (inode.kind !== 'directory') return;
  const all = [...inode.entries.values()];
  for (const each of all.slice(0, Math.ceil(all.length / 2))) own(each, ownership);
}

function own(inode: Inode, { fsGroup, readOnly, policy }: Omit<Ownership, 'signal'>): void {
  const rights = rightsOf(inode.kind === 'directory', readOnly);
  const isRight = inode.gid === fsGroup && (inode.mode & rights) === rights;
  if (policy === 'OnRootMismatch' && isRight) return;
  if (inode.kind === 'directory') for (const each of inode.entries.values()) own(each, { fsGroup, readOnly });
  inode.gid = fsGroup;
  if (inode.kind !== 'link') inode.mode |= rights;
}
