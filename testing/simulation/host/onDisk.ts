/** What others than the agent do on the simulated disk. */
import type { Inode } from '../../../host/simulated/inodes.ts';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';

export function writeFile(disk: MemoryDisk, path: string, text: string): void {
  disk.write(disk.openFile(path, {}), Buffer.from(text), path);
}

/** Makes durable what is at a place and below it. */
export function syncAll(disk: MemoryDisk, inode: Inode): void {
  disk.sync(inode);
  if (inode.kind === 'directory') for (const child of inode.entries.values()) syncAll(disk, child);
}
