/** Stores the mounts of a simulated disk. */
import type { MountPoint } from '../files/mountPoint.ts';
import type { Inode } from './inodes.ts';

/** A mounted file system or a bind mount. */
export interface SimulatedMount extends MountPoint {
  /** Source of a bind mount. Undefined for a mounted file system. */
  readonly source?: string;
  /** Root of the mounted file system. */
  readonly root: Inode;
  /** The inode that the mount covers. */
  readonly mountPoint: Inode;
  /** The mount that contains `mountPoint`. Undefined for the disk itself. */
  readonly parentMount: SimulatedMount | undefined;
}

export class MountTable {
  #mounts: readonly SimulatedMount[] = [];

  get mounts(): readonly SimulatedMount[] {
    return this.#mounts;
  }

  add(mounted: SimulatedMount): void {
    this.#mounts = [...this.#mounts, mounted];
  }

  /** Removes a mount, unless it contains other mounts. Returns whether it was removed. */
  remove(mounted: SimulatedMount): boolean {
    if (this.#mounts.some(({ parentMount }) => parentMount === mounted)) return false;
    this.#mounts = this.#mounts.filter((candidate) => candidate !== mounted);
    return true;
  }

  clear(): void {
    this.#mounts = [];
  }

  /** Returns the topmost mount on an inode, if any. */
  findTopMount(inode: Inode, parent: SimulatedMount | undefined): SimulatedMount | undefined {
    const mount = this.#mounts.find((candidate) => candidate.mountPoint === inode && candidate.parentMount === parent);
    return mount && (this.findTopMount(mount.root, mount) ?? mount);
  }

  /** Updates the paths of mounts below a renamed directory. */
  updatePaths(from: string, to: string): void {
    if (!this.#mounts.some(({ path }) => path.startsWith(`${from}/`))) return;
    const updatedMounts = new Map<SimulatedMount, SimulatedMount>();
    for (const mounted of this.#mounts) {
      const path = mounted.path.startsWith(`${from}/`) ? `${to}${mounted.path.slice(from.length)}` : mounted.path;
      updatedMounts.set(mounted, {
        ...mounted,
        path,
        parentMount: mounted.parentMount && updatedMounts.get(mounted.parentMount),
      });
    }
    this.#mounts = [...updatedMounts.values()];
  }
}
