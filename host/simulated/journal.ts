/**
 * Tracks which changes of a simulated disk are durable and determines the state after a power failure, as on a
 * journaling file system.
 */
import { Buffer } from 'node:buffer';
import type { Directory, EntryChanges, Inode, RegularFile } from './inodes.ts';

/** Maximum time until a file system commits directory changes, in milliseconds. */
const COMMIT_INTERVAL_MS = 5_000;
/** Maximum time until a file system writes dirty pages to the disk, in milliseconds. */
const WRITEBACK_INTERVAL_MS = 30_000;

interface PendingChange {
  readonly directory: Directory;
  readonly entryChanges: EntryChanges;
  readonly changedAt: number;
}

interface PowerCut {
  /** Returns random numbers in [0, 1). */
  readonly random: () => number;
  /** Current time, from the same clock as the timestamps of the changes. */
  readonly now: number;
}

/** Directory changes that are not durable yet, in order. */
export class Journal {
  #pendingChanges: PendingChange[] = [];

  /** Changes entries of a directory atomically. */
  change(directory: Directory, entryChanges: EntryChanges, at: number): void {
    applyChange(directory.entries, entryChanges);
    this.#pendingChanges.push({ directory, entryChanges, changedAt: at });
    this.#commitExpiredChanges(at);
  }

  /** Makes the current state of an inode durable. Nothing else becomes durable. */
  sync(inode: Inode): void {
    if (inode.kind === 'file') inode.syncedData = inode.data;
    if (inode.kind !== 'directory') return;
    this.#commitChanges(this.#pendingChanges.filter(({ directory }) => directory === inode));
    this.#pendingChanges = this.#pendingChanges.filter(({ directory }) => directory !== inode);
  }

  /**
   * Restores the state after a power failure. A random number of the oldest directory changes survive. Each unsynced
   * file has its old contents, a part of its new contents, or all of its new contents.
   */
  cutPower(root: Directory, cut: PowerCut): void {
    this.#commitExpiredChanges(cut.now);
    this.#commitChanges(this.#pendingChanges.slice(0, Math.floor(cut.random() * (this.#pendingChanges.length + 1))));
    this.#pendingChanges = [];
    restoreInode(root, cut);
  }

  #commitExpiredChanges(now: number): void {
    const [oldestChange] = this.#pendingChanges;
    if (oldestChange === undefined || now - oldestChange.changedAt <= COMMIT_INTERVAL_MS) return;
    const firstRecentIndex = this.#pendingChanges.findIndex(({ changedAt }) => now - changedAt <= COMMIT_INTERVAL_MS);
    this.#commitChanges(
      this.#pendingChanges.splice(0, firstRecentIndex < 0 ? this.#pendingChanges.length : firstRecentIndex),
    );
  }

  #commitChanges(changes: readonly PendingChange[]): void {
    for (const { directory, entryChanges } of changes) applyChange(directory.syncedEntries, entryChanges);
  }
}

function applyChange(entries: Map<string, Inode>, change: EntryChanges): void {
  for (const [name, inode] of change) {
    if (inode === undefined) entries.delete(name);
    else entries.set(name, inode);
  }
}

function restoreInode(inode: Inode, cut: PowerCut): void {
  if (inode.kind === 'file') restoreFile(inode, cut);
  if (inode.kind !== 'directory') return;
  inode.entries.clear();
  for (const [name, child] of inode.syncedEntries) {
    inode.entries.set(name, child);
    restoreInode(child, cut);
  }
}

function restoreFile(file: RegularFile, { random, now }: PowerCut): void {
  const { data, syncedData } = file;
  if (data !== syncedData && now - file.writtenAt <= WRITEBACK_INTERVAL_MS) {
    const writtenBytes = data.subarray(0, Math.floor(random() * data.length));
    // If only the new size is durable, the rest reads as zeros.
    const zeroFilledData = Buffer.concat([writtenBytes, Buffer.alloc(data.length - writtenBytes.length)]);
    file.data = [syncedData, writtenBytes, zeroFilledData, data][Math.floor(random() * 4)] ?? data;
  }
  file.syncedData = file.data;
}
