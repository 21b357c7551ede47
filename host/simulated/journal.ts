/** What of a disk in memory is durable, and what a power cut leaves of the rest: as on a file system with a journal. */
import { Buffer } from 'node:buffer';
import type { Directory, EntryChange, Inode, RegularFile } from './inodes.ts';

/** The longest that a file system keeps a change of names to itself, and a page that was written, in milliseconds. */
const COMMIT_MS = 5_000;
const WRITEBACK_MS = 30_000;

interface Change {
  readonly directory: Directory;
  readonly entries: EntryChange;
  readonly at: number;
}

interface PowerCut {
  /** Numbers from 0 to less than 1. */
  readonly random: () => number;
  /** By the same time as that of the changes. */
  readonly now: number;
}

/** The changes of directories that are not durable yet, in their order. */
export class Journal {
  #changes: Change[] = [];

  /** Changes names of a directory at once. */
  change(directory: Directory, entries: EntryChange, at: number): void {
    apply(directory.entries, entries);
    this.#changes.push({ directory, entries, at });
    this.#commitOld(at);
  }

  /** Makes durable what an inode is now: no more than that is promised of what else has changed. */
  sync(inode: Inode): void {
    if (inode.kind === 'file') inode.synced = inode.data;
    if (inode.kind !== 'directory') return;
    this.#commit(this.#changes.filter(({ directory }) => directory === inode));
    this.#changes = this.#changes.filter(({ directory }) => directory !== inode);
  }

  /** Of the changes of names the first few are left; of a file that was not synced the old content, a part, or all. */
  cutPower(root: Directory, cut: PowerCut): void {
    this.#commitOld(cut.now);
    this.#commit(this.#changes.slice(0, Math.floor(cut.random() * (this.#changes.length + 1))));
    this.#changes = [];
    restore(root, cut);
  }

  #commitOld(now: number): void {
    const [oldest] = this.#changes;
    if (oldest === undefined || now - oldest.at <= COMMIT_MS) return;
    const recent = this.#changes.findIndex(({ at }) => now - at <= COMMIT_MS);
    this.#commit(this.#changes.splice(0, recent < 0 ? this.#changes.length : recent));
  }

  #commit(changes: readonly Change[]): void {
    for (const { directory, entries } of changes) apply(directory.synced, entries);
  }
}

function apply(entries: Map<string, Inode>, change: EntryChange): void {
  for (const [name, inode] of change) {
    if (inode === undefined) entries.delete(name);
    else entries.set(name, inode);
  }
}

function restore(inode: Inode, cut: PowerCut): void {
  if (inode.kind === 'file') restoreFile(inode, cut);
  if (inode.kind !== 'directory') return;
  inode.entries.clear();
  for (const [name, child] of inode.synced) {
    inode.entries.set(name, child);
    restore(child, cut);
  }
}

function restoreFile(file: RegularFile, { random, now }: PowerCut): void {
  const { data, synced } = file;
  if (data !== synced && now - file.writtenAt <= WRITEBACK_MS) {
    const part = data.subarray(0, Math.floor(random() * data.length));
    // Where the size is durable and the rest is not, that reads as zeros.
    const holed = Buffer.concat([part, Buffer.alloc(data.length - part.length)]);
    file.data = [synced, part, holed, data][Math.floor(random() * 4)] ?? data;
  }
  file.synced = file.data;
}
