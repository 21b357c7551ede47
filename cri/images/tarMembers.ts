/** The members of a tar archive (ustar, GNU or pax) in a file, found by their headers alone. */
import type { FileHandle } from 'node:fs/promises';

/** A member, with the range of the archive that it occupies including its headers. */
export interface TarMember {
  /** Without a leading `./` or `/`. */
  readonly name: string;
  readonly isFile: boolean;
  /** Bytes of content. */
  readonly size: number;
  /** Positions in the archive. `from` and `to` also cover the headers for long names and the padding. */
  readonly from: number;
  readonly contentAt: number;
  readonly to: number;
}

/** Describes why a file is not a complete tar archive, to follow the name of the file. */
export class TarMistake extends Error {
  override readonly name = 'TarMistake';
}

const BLOCK = 512;
/** Longest name or pax header, in bytes. */
const LONGEST_HEADER = 1024 * 1024;
const CHECKSUM_AT = 148;
const CHECKSUM_LENGTH = 8;

const FILE_TYPES: ReadonlySet<string> = new Set(['0', '\0', '7']);

interface Header {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

export interface TarMembers {
  readonly members: readonly TarMember[];
  /** Whether the empty block that marks the end is there. Some programs do not write it. */
  readonly isTerminated: boolean;
}

/** Lists the members. Throws a `TarMistake` if the file is not a tar archive or is truncated within a member. */
export async function tarMembers(file: FileHandle): Promise<TarMembers> {
  const { size: fileSize } = await file.stat();
  if (fileSize === 0) throw new TarMistake('is empty');
  const members: TarMember[] = [];
  let long: { readonly name?: string; readonly size?: number } = {};
  let from = 0;
  let at = 0;
  const blockAt = blockReader(file);
  for (;;) {
    const block = await blockAt(at);
    if (block.length === 0) return { members, isTerminated: false };
    if (block.length === BLOCK && block.every((byte) => byte === 0)) return { members, isTerminated: true };
    if (block.length < BLOCK) throw members.length === 0 && at === 0 ? notTar() : truncated(fileSize);
    const header = headerOf(block);
    if (header === undefined) {
      throw at === 0 ? notTar() : new TarMistake(`is damaged: no tar header at byte ${at}`);
    }
    const size = long.size ?? header.size;
    const contentAt = at + BLOCK;
    const to = contentAt + Math.ceil(size / BLOCK) * BLOCK;
    if (contentAt + size > fileSize) throw truncated(fileSize);
    at = to;
    if (header.type === 'L' || header.type === 'K' || header.type === 'x' || header.type === 'g') {
      if (size > LONGEST_HEADER) throw new TarMistake(`is damaged: a header of ${size} bytes at byte ${contentAt}`);
      const content = await readAt(file, contentAt, size);
      if (header.type === 'L') long = { ...long, name: textOf(content) };
      if (header.type === 'x') long = { ...long, ...paxFields(content) };
      continue;
    }
    const name = (long.name ?? header.name).replace(/^(?:\.?\/)+/, '');
    members.push({ name, isFile: FILE_TYPES.has(header.type), size, from, contentAt, to });
    long = {};
    from = to;
  }
}

/** Bytes read at once: the headers of small members are close together. */
const READ_AHEAD = 64 * 1024;

/** Returns a function that reads a block, shorter at the end of the file, from what was read ahead if possible. */
function blockReader(file: FileHandle): (position: number) => Promise<Buffer> {
  let ahead: Buffer = Buffer.alloc(0);
  let aheadAt = 0;
  return async (position) => {
    if (position < aheadAt || position + BLOCK > aheadAt + ahead.length) {
      ahead = await readAt(file, position, READ_AHEAD);
      aheadAt = position;
    }
    return ahead.subarray(position - aheadAt, position - aheadAt + BLOCK);
  };
}

const notTar = (): TarMistake => new TarMistake('is not a tar archive');

const truncated = (fileSize: number): TarMistake =>
  new TarMistake(`is truncated: it ends after ${fileSize} bytes, in the middle of a file`);

/** Reads up to `length` bytes. Fewer are returned at the end of the file. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Returns undefined if the checksum is wrong. */
function headerOf(block: Buffer): Header | undefined {
  // The checksum counts as spaces. This loop runs for every byte of every header.
  let sum = CHECKSUM_LENGTH * 0x20;
  for (let index = 0; index < CHECKSUM_AT; index += 1) sum += block[index] ?? 0;
  for (let index = CHECKSUM_AT + CHECKSUM_LENGTH; index < BLOCK; index += 1) sum += block[index] ?? 0;
  const size = numberIn(block.subarray(124, 136));
  if (size === undefined || numberIn(block.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_LENGTH)) !== sum) {
    return undefined;
  }
  const isUstar = block.subarray(257, 262).toString('latin1') === 'ustar';
  const prefix = isUstar && block[262] === 0 ? textOf(block.subarray(345, 500)) : '';
  const name = textOf(block.subarray(0, 100));
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type: String.fromCharCode(block[156] ?? 0),
    size,
  };
}

/** Reads a number in octal digits or, if the first bit is set, in binary (GNU). */
function numberIn(field: Buffer): number | undefined {
  const [first = 0] = field;
  if ((first & 0x80) !== 0) {
    const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, first & 0x7f);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const digits = textOf(field).trim();
  return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : undefined;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8');
}

/** Reads the records `LENGTH KEY=VALUE\n` of a pax header. */
function paxFields(content: Buffer): { readonly name?: string; readonly size?: number } {
  const records = new Map<string, string>();
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.subarray(at, space).toString('latin1'));
    if (space < 0 || !Number.isSafeInteger(length) || length <= space - at) break;
    const [, key = '', value = ''] =
      /^([^=]*)=([\s\S]*)\n$/.exec(content.subarray(space + 1, at + length).toString()) ?? [];
    records.set(key, value);
    at += length;
  }
  const [path, size] = [records.get('path'), Number(records.get('size') ?? Number.NaN)];
  return {
    ...(path === undefined ? {} : { name: path }),
    ...(Number.isSafeInteger(size) && size >= 0 ? { size } : {}),
  };
}
