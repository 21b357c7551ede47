/** Reads recordings: a file that was written out, or the directory of a ring. What is torn at its end is left out. */
import type { Stats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { messageOf } from '../base/failure.ts';
import { isMissing } from '../host/files/fileErrors.ts';
import { HEADER, headOf, MAGIC, type MemberHead } from './member.ts';
import { RecordingError } from './recordingError.ts';
import { ringNames } from './ring.ts';

/** A member, and where it lies. */
export interface Member extends MemberHead {
  readonly file: string;
  readonly offset: number;
}

/** Expands a gzip member. */
export type Expand = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer | Promise<Buffer>;

interface OpenOptions {
  /** What was found there is not looked for again: files only grow. */
  readonly before?: RecordingFile | undefined;
  /** By the threads of Node.js, unless something else is given. */
  readonly expand?: Expand | undefined;
}

/** What was found in a file, which is another one where what it is has changed. */
interface FoundFile {
  readonly identity: string;
  readonly members: readonly Member[];
}

export class RecordingFile {
  /** In the order in which they were written. */
  readonly members: readonly Member[];
  readonly #files: ReadonlyMap<string, FoundFile>;
  readonly #expand: Expand;

  private constructor(files: ReadonlyMap<string, FoundFile>, expand: Expand) {
    this.members = [...files.values()].flatMap(({ members }) => members);
    this.#files = files;
    this.#expand = expand;
  }

  /** Rejects with a system error if the path cannot be read. A file without a recording has no members. */
  static async open(path: string, { before, expand = inThreads }: OpenOptions = {}): Promise<RecordingFile> {
    const place = await stat(path).catch((cause: unknown) => {
      if (!isMissing(cause)) throw cause;
      throw new RecordingError(`${path}: there is no such recording; "statelet record dump FILE" writes one`, {
        cause,
      });
    });
    if (!place.isDirectory() && !place.isFile()) throw new RecordingError(`${path}: expected a file or a directory`);
    const files = new Map<string, FoundFile>();
    for (const file of place.isDirectory() ? await ringIn(path) : [path]) {
      // One that a recorder has removed meanwhile is gone.
      const known = before === undefined ? undefined : before.#files.get(file);
      const found = await foundIn(file, known).catch((error) =>
        isMissing(error) && file !== path ? undefined : Promise.reject(error),
      );
      if (found) files.set(file, found);
    }
    return new RecordingFile(files, expand);
  }

  /** Whether another one begins anew after it, or none is there: what is damaged in it is torn. */
  isLast(member: Member): boolean {
    const next = this.members[this.members.indexOf(member) + 1];
    return next === undefined || next.begins === 'anew' || next.file !== member.file;
  }

  /** The lines of a member, as text. Rejects with a `RecordingError` where its bytes are not what was written. */
  async lines(member: Member): Promise<readonly string[]> {
    const bytes = await this.bytes(member);
    try {
      const text = await this.#expand(bytes, { maxOutputLength: MOST_BYTES });
      return text.toString('utf8').trimEnd().split('\n');
    } catch (cause) {
      throw new RecordingError(`${member.file}: damaged at byte ${member.offset}: ${messageOf(cause)}`, { cause });
    }
  }

  async bytes({ file, offset, size }: Member): Promise<Buffer> {
    const handle = await open(file, 'r');
    try {
      return await readAt(handle, offset, size);
    } finally {
      await handle.close();
    }
  }
}

/** A keyframe of the largest node is a tenth of it. */
const MOST_BYTES = 2 ** 28;

const inThreads: Expand = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

async function ringIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return ringNames(names).map((name) => join(directory, name));
}

/** The number of a file may be given to another one, which was made later. */
const identityOf = ({ dev, ino, birthtimeMs }: Stats): string => `${dev} ${ino} ${birthtimeMs}`;

async function foundIn(file: string, before: FoundFile | undefined): Promise<FoundFile> {
  const handle = await open(file, 'r');
  try {
    const stats = await handle.stat();
    const identity = identityOf(stats);
    const last = before?.members.at(-1);
    const isSame = before?.identity === identity && (last === undefined || last.offset + last.size <= stats.size);
    const known = isSame ? before.members : [];
    return { identity, members: [...known, ...(await membersAfter(handle, file, known.at(-1), stats.size))] };
  } finally {
    await handle.close();
  }
}

/** So much is looked through at a time, in bytes. */
const STEP = 2 ** 20;

/** All members after one of a file, or all of it. */
async function membersAfter(
  handle: FileHandle,
  file: string,
  last: Member | undefined,
  end: number,
): Promise<Member[]> {
  const members: Member[] = [];
  // Most members are small: the heads of many are read at once.
  let block: { readonly from: number; readonly bytes: Buffer } = { from: 0, bytes: Buffer.alloc(0) };
  for (let offset = last === undefined ? 0 : last.offset + last.size; offset < end; ) {
    if (offset + HEADER > block.from + block.bytes.length)
      block = { from: offset, bytes: await readAt(handle, offset, Math.min(STEP, end - offset)) };
    const head = headOf(block.bytes.subarray(offset - block.from));
    const isWhole = head !== undefined && offset + head.size <= end;
    if (isWhole) members.push({ ...head, file, offset });
    offset = isWhole ? offset + head.size : await nextAnew(handle, offset + 1, end);
  }
  return members;
}

/** Where another member begins anew after what is damaged, or the end: what belongs to that is of no use without it. */
async function nextAnew(handle: FileHandle, from: number, end: number): Promise<number> {
  for (let offset = from; offset < end; offset += STEP) {
    // A header may lie across the end of a step.
    const bytes = await readAt(handle, offset, STEP + HEADER);
    for (let at = bytes.indexOf(MAGIC); at >= 0 && at < STEP; at = bytes.indexOf(MAGIC, at + 1)) {
      if (headOf(bytes.subarray(at))?.begins === 'anew') return offset + at;
    }
  }
  return end;
}

/** So many bytes, or as many as there are. */
export async function readAt(handle: FileHandle, offset: number, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await handle.read(buffer, 0, size, offset);
  return buffer.subarray(0, bytesRead);
}
