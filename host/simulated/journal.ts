/**
 * Tracks which changes of a simulated disk are durable and determines the state after a power failure, as on a
 * journaling file system.
 */
import { Buffer } from 'node:buffer';
import type { Directory, EntryChange, Inode, RegularFile } from './inodes.ts';

/** Maximum time until a file system commits directory changes, in milliseconds. */
const COMMIT_INTERVAL_MS = 5_000;
/** Maximum time until a file system writes dirty pages to the disk, in milliseconds. */
const WRITEBACK_INTERVAL_MS = 30_000;

interface PendingChange {
  readonly directory: Directory;
  readonly entries: EntryChange;
  readonly changedAt: number;
}

interface PowerCut {
  /** Random numbers in [0, 1). */
  readonly random: () => number;
  /** Current time on the clock of the changes. */
  readonly now: number;
}

/** Directory changes that are not durable yet, in order. */
export class Journal {
  #changes: PendingChange[] = [];

  /** Changes entries of a directory atomically. */
  change(directory: Directory, entries: EntryChange, at: number): void {
    applyChange(directory.entries, entries);
    this.#changes.push({ directory, entries, changedAt: at });
    this.#commitExpired(at);
  }

  /** Makes the current state of an inode durable. Nothing else becomes durable. */
  sync(inode: Inode): void {
    if (inode.kind === 'file') inode.synced = inode.data;
    if (inode.kind !== 'directory') return;
    this.#commit(this.#changes.filter(({ directory }) => directory === inode));
    this.#changes = this.#changes.filter(({ directory }) => directory !== inode);
  }

  /**
   * Restores the state after a power failure. The first few directory changes survive, and an unsynced file has its old
   * contents, a part of the new ones, or all.
   */
  cutPower(root: Directory, cut: PowerCut): void {
    this.#commitExpired(cut.now);
    this.#commit(this.#changes.slice(0, Math.floor(cut.random() * (this.#changes.length + 1))));
    this.#changes = [];
    restoreInode(root, cut);
  }

  #commitExpired(now: number): void {
    const [oldest] = this.#changes;
    if (oldest === undefined || now - oldest.changedAt <= COMMIT_INTERVAL_MS) return;
    const firstRecent = this.#changes.findIndex(({ changedAt }) => now - changedAt <= COMMIT_INTERVAL_MS);
    this.#commit(this.#changes.splice(0, firstRecent < 0 ? this.#changes.length : firstRecent));
  }

  #commit(changes: readonly PendingChange[]): void {
    for (const { directory, entries } of changes) applyChange(directory.synced, entries);
  }
}

function applyChange(entries: Map<string, Inode>, change: EntryChange): void {
  for (const [name, inode] of change) {
    if (inode === undefined) entries.delete(name);
    else entries.set(name, inode);
  }
}

function restoreInode(inode: Inode, cut: PowerCut): void {
  if (inode.kind === 'file') restoreFile(inode, cut);
  if (inode.kind !== 'directory') return;
  inode.entries.clear();
  for (const [name, child] of inode.synced) {
    inode.entries.set(name, child);
    restoreInode(child, cut);
  }
}

function restoreFile(file: RegularFile, { random, now }: PowerCut): void {
  const { data, synced } = file;
  if (data !== synced && now - file.writtenAt <= WRITEBACK_INTERVAL_MS) {
    const writtenPart = data.subarray(0, Math.floor(random() * data.length));
    // If only the new size is durable, the rest reads as zeros.
    const zeroFilled = Buffer.concat([writtenPart, Buffer.alloc(data.length - writtenPart.length)]);
    file.data = [synced, writtenPart, zeroFilled, data][Math.floor(random() * 4)] ?? data;
  }
  file.synced = file.data;
}
