/** Reads a recording from an exported file or from the directory of a ring. Ignores a torn write at the end. */
import type { Stats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { messageOf } from '../base/failure.ts';
import { isMissing } from '../host/files/fileErrors.ts';
import { HEADER_BYTES, MAGIC_BYTES, type MemberHead, parseMemberHead } from './member.ts';
import { RecordingError } from './recordingError.ts';
import { sortRingNames } from './ring.ts';

/** A gzip member and its position in a file. */
export interface Member extends MemberHead {
  readonly file: string;
  readonly offset: number;
}

/** Decompresses a gzip member. */
export type Decompress = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer | Promise<Buffer>;

interface OpenOptions {
  /** The previous result for the same path. Its members are not parsed again, because files only grow. */
  readonly previousFile?: RecordingFile | undefined;
  /** Decompresses a gzip member. By default, this happens in the thread pool of Node.js. */
  readonly decompress?: Decompress | undefined;
}

/** The gzip members of a file. `fileIdentity` shows whether the path still refers to the same file. */
interface ParsedFile {
  readonly fileIdentity: string;
  readonly members: readonly Member[];
}

export class RecordingFile {
  readonly members: readonly Member[];
  readonly #files: ReadonlyMap<string, ParsedFile>;
  readonly #decompress: Decompress;

  private constructor(files: ReadonlyMap<string, ParsedFile>, decompress: Decompress) {
    this.members = [...files.values()].flatMap(({ members }) => members);
    this.#files = files;
    this.#decompress = decompress;
  }

  /**
   * Opens a recording. Rejects with a `RecordingError` if there is no recording at the path, and with a system error if
   * it cannot be read. A file that is not a recording is opened as a recording without members.
   */
  static async open(
    path: string,
    { previousFile, decompress = decompressInThreadPool }: OpenOptions = {},
  ): Promise<RecordingFile> {
    const pathStats = await stat(path).catch((cause: unknown) => {
      if (!isMissing(cause)) throw cause;
      throw new RecordingError(`${path}: there is no such recording; "statelet record dump FILE" writes one`, {
        cause,
      });
    });
    if (!pathStats.isDirectory() && !pathStats.isFile())
      throw new RecordingError(`${path}: expected a file or a directory`);
    const files = new Map<string, ParsedFile>();
    for (const file of pathStats.isDirectory() ? await ringFiles(path) : [path]) {
      // Skip a missing file, because the recorder may have deleted it in the meantime.
      const previousResult = previousFile === undefined ? undefined : previousFile.#files.get(file);
      const parsedFile = await parseFile(file, previousResult).catch((error) =>
        isMissing(error) && file !== path ? undefined : Promise.reject(error),
      );
      if (parsedFile) files.set(file, parsedFile);
    }
    return new RecordingFile(files, decompress);
  }

  /** Whether no later member depends on this one. Damage to such a member is treated as a torn write. */
  isLast(member: Member): boolean {
    const nextMember = this.members[this.members.indexOf(member) + 1];
    return nextMember === undefined || nextMember.startKind === 'anew' || nextMember.file !== member.file;
  }

  /** Decompresses a member and returns its lines. Rejects with a `RecordingError` if the member is damaged. */
  async lines(member: Member): Promise<readonly string[]> {
    const bytes = await this.bytes(member);
    try {
      const memberText = await this.#decompress(bytes, { maxOutputLength: MAX_EXPANDED_BYTES });
      return memberText.toString('utf8').trimEnd().split('\n');
    } catch (cause) {
      throw new RecordingError(`${member.file}: damaged at byte ${member.offset}: ${messageOf(cause)}`, { cause });
    }
  }

  async bytes({ file, offset, size }: Member): Promise<Buffer> {
    const handle = await open(file, 'r');
    try {
      return await readBytesAt(handle, offset, size);
    } finally {
      await handle.close();
    }
  }
}

/**
 * Maximum size of a decompressed member, in bytes. Even the keyframe of the largest node is only about a tenth of this
 * size.
 */
const MAX_EXPANDED_BYTES = 2 ** 28;

const decompressInThreadPool: Decompress = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

async function ringFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const fileNames = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return sortRingNames(fileNames).map((name) => join(directory, name));
}

/**
 * Returns a string that identifies a file. It includes the creation time, because file systems can reuse inode numbers.
 */
const getFileIdentity = ({ dev, ino, birthtimeMs }: Stats): string => `${dev} ${ino} ${birthtimeMs}`;

async function parseFile(file: string, previousResult: ParsedFile | undefined): Promise<ParsedFile> {
  const handle = await open(file, 'r');
  try {
    const stats = await handle.stat();
    const fileIdentity = getFileIdentity(stats);
    const lastKnownMember = previousResult?.members.at(-1);
    const isSameFile =
      previousResult?.fileIdentity === fileIdentity &&
      (lastKnownMember === undefined || lastKnownMember.offset + lastKnownMember.size <= stats.size);
    const knownMembers = isSameFile ? previousResult.members : [];
    return {
      fileIdentity,
      members: [...knownMembers, ...(await parseMembersAfter(handle, file, knownMembers.at(-1), stats.size))],
    };
  } finally {
    await handle.close();
  }
}

/** Number of bytes that are read at a time. */
const READ_BYTES = 2 ** 20;

/** Parses the members after `lastKnownMember`, or all members of the file if `lastKnownMember` is undefined. */
async function parseMembersAfter(
  handle: FileHandle,
  file: string,
  lastKnownMember: Member | undefined,
  end: number,
): Promise<Member[]> {
  const members: Member[] = [];
  // Read a large block, because most members are small and the block then contains many headers.
  let readBlock: { readonly from: number; readonly bytes: Buffer } = { from: 0, bytes: Buffer.alloc(0) };
  for (let offset = lastKnownMember === undefined ? 0 : lastKnownMember.offset + lastKnownMember.size; offset < end; ) {
    if (offset + HEADER_BYTES > readBlock.from + readBlock.bytes.length)
      readBlock = { from: offset, bytes: await readBytesAt(handle, offset, Math.min(READ_BYTES, end - offset)) };
    const memberHead = parseMemberHead(readBlock.bytes.subarray(offset - readBlock.from));
    const isComplete = memberHead !== undefined && offset + memberHead.size <= end;
    if (isComplete) members.push({ ...memberHead, file, offset });
    offset = isComplete ? offset + memberHead.size : await findNextSegment(handle, offset + 1, end);
  }
  return members;
}

/**
 * Skips damaged bytes. Returns the offset of the next member that starts a file or a run of the agent, or `end` if
 * there is none. Also skips the members before that offset, because they depend on the damaged one.
 */
async function findNextSegment(handle: FileHandle, from: number, end: number): Promise<number> {
  for (let offset = from; offset < end; offset += READ_BYTES) {
    // Extend the block by the size of a header, because a header can span two blocks.
    const bytes = await readBytesAt(handle, offset, READ_BYTES + HEADER_BYTES);
    for (let at = bytes.indexOf(MAGIC_BYTES); at >= 0 && at < READ_BYTES; at = bytes.indexOf(MAGIC_BYTES, at + 1)) {
      if (parseMemberHead(bytes.subarray(at))?.startKind === 'anew') return offset + at;
    }
  }
  return end;
}

/** Reads `size` bytes, or fewer at the end of the file. */
export async function readBytesAt(handle: FileHandle, offset: number, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await handle.read(buffer, 0, size, offset);
  return buffer.subarray(0, bytesRead);
}
