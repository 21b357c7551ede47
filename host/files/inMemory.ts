import { statfs } from 'node:fs/promises';

/** `TMPFS_MAGIC` and `RAMFS_MAGIC` of the kernel. */
const TYPES: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/** Whether what is written to a directory stays in memory, and comes to rest on no disk but as swap. */
export const isInMemory = async (directory: string): Promise<boolean> => TYPES.has((await statfs(directory)).type);
