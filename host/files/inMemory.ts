import { statfs } from 'node:fs/promises';

/** The kernel's `TMPFS_MAGIC` and `RAMFS_MAGIC`. */
const MEMORY_FILE_SYSTEM_MAGICS: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/** Whether a directory is on a memory file system, whose contents reach a disk only through swap. */
export const isInMemory = async (directory: string): Promise<boolean> =>
  MEMORY_FILE_SYSTEM_MAGICS.has((await statfs(directory)).type);
