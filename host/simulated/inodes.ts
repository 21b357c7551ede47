/** What a disk in memory is made of. */

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
  /** When it was given its content, by the time that no jump of the clock changes. */
  writtenAt: number;
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
  /** What a power cut leaves at least. */
  readonly synced: Map<string, Inode>;
}

/** What became of names: undefined is gone. */
export type EntryChange = readonly (readonly [name: string, inode: Inode | undefined])[];

export type Inode = Directory | RegularFile | SymbolicLink;

/** The bytes that an inode takes, with all below it. */
export function sizeOf(inode: Inode): number {
  if (inode.kind === 'file') return inode.data.length;
  if (inode.kind === 'link') return 0;
  let size = 0;
  for (const child of inode.entries.values()) size += sizeOf(child);
  return size;
}
