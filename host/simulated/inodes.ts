interface InodeFields {
  readonly ino: number;
  mode: number;
  uid: number;
  gid: number;
  mtimeMs: number;
}

export interface RegularFile extends InodeFields {
  readonly kind: 'file';
  data: Buffer;
  /** Time of the last write, on a clock that is never adjusted. */
  writtenAt: number;
  /** Contents that survive a power failure. */
  syncedData: Buffer;
}

interface SymbolicLink extends InodeFields {
  readonly kind: 'link';
  readonly target: string;
}

export interface Directory extends InodeFields {
  readonly kind: 'directory';
  readonly entries: Map<string, Inode>;
  /** Entries that survive a power failure. */
  readonly syncedEntries: Map<string, Inode>;
}

/** Changes of directory entries. An undefined inode means removal. */
export type EntryChanges = readonly (readonly [name: string, inode: Inode | undefined])[];

export type Inode = Directory | RegularFile | SymbolicLink;

/** Returns the size of an inode including everything below it, in bytes. */
export function totalSize(inode: Inode): number {
  if (inode.kind === 'file') return inode.data.length;
  if (inode.kind === 'link') return 0;
  let size = 0;
  for (const child of inode.entries.values()) size += totalSize(child);
  return size;
}
