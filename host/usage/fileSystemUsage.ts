/** How full a file system is. */
import { statfs } from 'node:fs/promises';
import { startLimit } from '../../base/limit.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';

/** Bytes and inodes; of a file system that does not count inodes these are 0. */
export interface FileSystemUsage {
  readonly capacityBytes: number;
  /** What others than root may still take. */
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

const LIMIT_MS = 5_000;

/** Asks the one that a path lies on (`Info` in `pkg/volume/util/fs/fs.go`); undefined where it cannot, or does not answer in 5 s. */
export async function fileSystemUsage(path: string, signal: AbortSignal): Promise<FileSystemUsage | undefined> {
  const limit = startLimit(LIMIT_MS);
  try {
    const found = await unlessAborted(statfs(path), AbortSignal.any([signal, limit.signal]));
    const { bsize, blocks, bavail, bfree, files, ffree } = found;
    return {
      capacityBytes: blocks * bsize,
      availableBytes: bavail * bsize,
      usedBytes: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
    };
  } catch {
    return undefined;
  } finally {
    limit.end();
  }
}
