import { statfs } from 'node:fs/promises';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';

/** Usage in bytes and inodes. The inode counts are 0 if the file system does not report them. */
export interface FileSystemUsage {
  readonly capacityBytes: number;
  /** Bytes that are available to unprivileged users. */
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

const STATFS_TIMEOUT_MS = 5_000;

/**
 * Reads the usage of the file system that contains a path (`Info` in `pkg/volume/util/fs/fs.go`). Returns undefined on
 * errors and if there is no response within 5 s.
 */
export async function readFileSystemUsage(path: string, signal: AbortSignal): Promise<FileSystemUsage | undefined> {
  const limit = startTimeLimit(STATFS_TIMEOUT_MS);
  try {
    const stats = await unlessAborted(statfs(path), AbortSignal.any([signal, limit.signal]));
    const { bsize, blocks, bavail, bfree, files, ffree } = stats;
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
    limit.clear();
  }
}
