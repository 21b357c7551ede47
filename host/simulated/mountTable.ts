/** What is mounted where in a disk in memory. */
import type { MountPoint } from '../files/mountPoint.ts';
import type { Inode } from './inodes.ts';

/** A mounted file system, or a part of one that is bound to another place. */
export interface Mounted extends MountPoint {
  /** Absent for a file system of its own. */
  readonly source?: string;
  /** What it shows. */
  readonly root: Inode;
  /** What it hides, and the mount that this is seen in: absent for the disk itself. */
  readonly point: Inode;
  readonly above: Mounted | undefined;
}

/** The mounts, in the order in which they were made. */
export class MountTable {
  #mounts: readonly Mounted[] = [];

  get all(): readonly Mounted[] {
    return this.#mounts;
  }

  add(mounted: Mounted): void {
    this.#mounts = [...this.#mounts, mounted];
  }

  /** One with another below it stays; says whether it is gone. */
  remove(mounted: Mounted): boolean {
    if (this.#mounts.some(({ above }) => above === mounted)) return false;
    this.#mounts = this.#mounts.filter((each) => each !== mounted);
    return true;
  }

  clear(): void {
    this.#mounts = [];
  }

  /** What is seen of an inode in a mount: of several mounted on it the last. */
  top(inode: Inode, above: Mounted | undefined): Mounted | undefined {
    const on = this.#mounts.find((each) => each.point === inode && each.above === above);
    return on && (this.top(on.root, on) ?? on);
  }

  /** Those below a directory have another path. */
  renamed(from: string, to: string): void {
    if (!this.#mounts.some(({ path }) => path.startsWith(`${from}/`))) return;
    const moved = new Map<Mounted, Mounted>();
    for (const each of this.#mounts) {
      const path = each.path.startsWith(`${from}/`) ? `${to}${each.path.slice(from.length)}` : each.path;
      moved.set(each, { ...each, path, above: each.above && moved.get(each.above) });
    }
    this.#mounts = [...moved.values()];
  }
}
