/** Writes to the simulated disk on behalf of everything but the agent. */
import type { Inode } from '../../../host/simulated/inodes.ts';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';

export function writeFile(disk: MemoryDisk, path: string, text: string): void {
  disk.write(disk.openFile(path, {}), Buffer.from(text), path);
}

/** Syncs an inode and everything below it. */
export function syncAll(disk: MemoryDisk, inode: Inode): void {
  disk.sync(inode);
  if (inode.kind === 'directory') for (const child of inode.entries.values()) syncAll(disk, child);
}
