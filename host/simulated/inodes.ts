/** What a disk in memory is made of, and what of it is durable. */

interface Common {
  readonly ino: number;
  mode: number;
  uid: number;
  gid: number;
  mtimeMs: number;
}

export interface RegularFile extends Common {
  readonly kind: 'file';
  data: Buffer;
  /** What a power cut leaves at least. */
  synced: Buffer;
}

interface SymbolicLink extends Common {
  readonly kind: 'link';
  readonly target: string;
}

export interface Directory extends Common {
  readonly kind: 'directory';
  readonly entries: Map<string, Inode>;
  /** The entries as they were when the directory was last synced. */
  synced: ReadonlyMap<string, Inode>;
  /** What was done to the entries since, in order; a rename within the directory is one change. */
  unsynced: EntryChange[];
}

/** What became of names: undefined is gone. */
export type EntryChange = readonly (readonly [name: string, inode: Inode | undefined])[];

export type Inode = Directory | RegularFile | SymbolicLink;

/** Changes names of a directory at once. */
export function changeEntries(directory: Directory, change: EntryChange): void {
  apply(directory.entries, change);
  directory.unsynced.push(change);
}

/** Makes durable what an inode is now. */
export function sync(inode: Inode): void {
  if (inode.kind === 'file') inode.synced = inode.data;
  if (inode.kind !== 'directory') return;
  inode.synced = new Map(inode.entries);
  inode.unsynced = [];
}

/**
 * Lets an inode, and all below it, be what a power cut leaves of it: of the changes of a directory that were not synced
 * the first few, of the content of a file that was not synced nothing, a part, or all. `random` gives numbers in [0, 1).
 */
export function cutPower(inode: Inode, random: () => number): void {
  if (inode.kind === 'file') cutFile(inode, random);
  if (inode.kind !== 'directory') return;
  const kept = inode.unsynced.slice(0, Math.floor(random() * (inode.unsynced.length + 1)));
  const entries = new Map(inode.synced);
  for (const change of kept) apply(entries, change);
  inode.entries.clear();
  for (const [name, child] of entries) {
    inode.entries.set(name, child);
    cutPower(child, random);
  }
  sync(inode);
}

function cutFile(file: RegularFile, random: () => number): void {
  if (file.data === file.synced) return;
  const outcome = random();
  if (outcome < 1 / 3) file.data = file.synced;
  else if (outcome < 2 / 3) file.data = file.data.subarray(0, Math.floor(random() * file.data.length));
  sync(file);
}

function apply(entries: Map<string, Inode>, change: EntryChange): void {
  for (const [name, inode] of change) {
    if (inode === undefined) entries.delete(name);
    else entries.set(name, inode);
  }
}

/** The bytes that an inode takes, with all below it. */
export function sizeOf(inode: Inode): number {
  if (inode.kind === 'file') return inode.data.length;
  if (inode.kind === 'link') return 0;
  let size = 0;
  for (const child of inode.entries.values()) size += sizeOf(child);
  return size;
}
