/** Reads recordings: a file that was written out, or the directory of a ring. What is torn at its end is left out. */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { isMissing } from '../host/files/fileErrors.ts';
import { messageOf } from '../pod/failure.ts';
import { HEADER, headOf, MAGIC, type MemberHead } from './member.ts';
import { RecordingError } from './recordingError.ts';
import { ringNames } from './ring.ts';

/** A member, and where it lies. */
export interface Member extends MemberHead {
  readonly file: string;
  readonly offset: number;
}

export class RecordingFile {
  /** In the order in which they were written. */
  readonly members: readonly Member[];

  private constructor(members: readonly Member[]) {
    this.members = members;
  }

  /**
   * Rejects with a system error where the path cannot be read; of what holds no recording there are no members. What was
   * found there `before` is not looked for again: files only grow.
   */
  static async open(path: string, before?: RecordingFile): Promise<RecordingFile> {
    const place = await stat(path);
    if (!place.isDirectory() && !place.isFile()) throw new RecordingError(`${path}: expected a file or a directory`);
    const files = place.isDirectory() ? await ringIn(path) : [path];
    const members: Member[] = [];
    for (const file of files) {
      // One that a recorder has removed meanwhile is gone.
      const known = before?.members.filter((member) => member.file === file) ?? [];
      const found = await membersIn(file, known).catch((error) =>
        isMissing(error) && file !== path ? [] : Promise.reject(error),
      );
      members.push(...found);
    }
    return new RecordingFile(members);
  }

  /** Whether another one begins anew after it, or none is there: what is damaged in it is torn. */
  isLast(member: Member): boolean {
    const next = this.members[this.members.indexOf(member) + 1];
    return next === undefined || next.begins === 'anew' || next.file !== member.file;
  }

  /** The lines of a member, as text. Rejects with a `RecordingError` where its bytes are not what was written. */
  async lines(member: Member): Promise<readonly string[]> {
    const bytes = await this.bytes(member);
    const text = await expand(bytes).catch((cause: unknown) => {
      throw new RecordingError(`${member.file}: damaged at byte ${member.offset}: ${messageOf(cause)}`, { cause });
    });
    return text.toString('utf8').trimEnd().split('\n');
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

const expand = (bytes: Buffer): Promise<Buffer> =>
  promisify<Buffer, ZlibOptions, Buffer>(gunzip)(bytes, { maxOutputLength: MOST_BYTES });

async function ringIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return ringNames(names).map((name) => join(directory, name));
}

async function membersIn(file: string, known: readonly Member[]): Promise<Member[]> {
  const handle = await open(file, 'r');
  try {
    const { size: end } = await handle.stat();
    const last = known.at(-1);
    const members = [...known];
    for (let offset = last === undefined ? 0 : last.offset + last.size; offset < end; ) {
      const head = headOf(await readAt(handle, offset, HEADER));
      const isWhole = head !== undefined && offset + head.size <= end;
      if (isWhole) members.push({ ...head, file, offset });
      offset = isWhole ? offset + head.size : await nextAnew(handle, offset + 1, end);
    }
    return members;
  } finally {
    await handle.close();
  }
}

/** So much is looked through at a time, in bytes. */
const STEP = 2 ** 20;

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
