/** Stores the mounts of a simulated disk. */
import type { MountPoint } from '../files/mountPoint.ts';
import type { Inode } from './inodes.ts';

/** A mounted file system or a bind mount. */
export interface Mounted extends MountPoint {
  /** Source of a bind mount. Undefined for other file systems. */
  readonly source?: string;
  /** Root of the mounted file system. */
  readonly root: Inode;
  /** The inode that the mount covers. */
  readonly mountPoint: Inode;
  /** The mount that contains `mountPoint`. Undefined for the disk itself. */
  readonly parent: Mounted | undefined;
}

export class MountTable {
  #mounts: readonly Mounted[] = [];

  get all(): readonly Mounted[] {
    return this.#mounts;
  }

  add(mounted: Mounted): void {
    this.#mounts = [...this.#mounts, mounted];
  }

  /** Removes a mount, unless it contains other mounts. Returns whether it was removed. */
  remove(mounted: Mounted): boolean {
    if (this.#mounts.some(({ parent }) => parent === mounted)) return false;
    this.#mounts = this.#mounts.filter((candidate) => candidate !== mounted);
    return true;
  }

  clear(): void {
    this.#mounts = [];
  }

  /** Returns the topmost mount on an inode, if any. */
  top(inode: Inode, parent: Mounted | undefined): Mounted | undefined {
    const mounted = this.#mounts.find((candidate) => candidate.mountPoint === inode && candidate.parent === parent);
    return mounted && (this.top(mounted.root, mounted) ?? mounted);
  }

  /** Updates the paths of mounts below a renamed directory. */
  updatePaths(from: string, to: string): void {
    if (!this.#mounts.some(({ path }) => path.startsWith(`${from}/`))) return;
    const updated = new Map<Mounted, Mounted>();
    for (const mounted of this.#mounts) {
      const path = mounted.path.startsWith(`${from}/`) ? `${to}${mounted.path.slice(from.length)}` : mounted.path;
      updated.set(mounted, { ...mounted, path, parent: mounted.parent && updated.get(mounted.parent) });
    }
    this.#mounts = [...updated.values()];
  }
}
