/** The members of a tar archive (ustar, GNU or pax) in a file, found by their headers alone. */
import type { FileHandle } from 'node:fs/promises';

/** A member, with the range of the archive that it occupies including its headers. */
export interface TarMember {
  /** Without a leading `./` or `/`. */
  readonly name: string;
  readonly isFile: boolean;
  /** Target of a link, as the archive has it. Empty for anything else. */
  readonly target: string;
  /** Bytes of content. */
  readonly size: number;
  /** Bytes of the extracted file, which are more than its content if it is sparse. */
  readonly extractedSize: number;
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
/** Where the format of GNU has the flag of a following block, in such a block. */
const EXTENDED_FLAG_AT = 504;

/** Maximum number of members of an archive of images, whose names are all in memory. */
const MAX_MEMBERS = 100_000;

const FILE_TYPES: ReadonlySet<string> = new Set(['0', '\0', '7']);
const GNU_SPARSE = 'S';

interface Header {
  readonly name: string;
  readonly type: string;
  readonly target: string;
  readonly size: number;
  readonly extractedSize: number;
  /** Whether another block of the header follows, with more of the map of a sparse file. */
  readonly isExtended: boolean;
}

/** Fields that a preceding header gives to a member. */
interface LongFields {
  readonly name?: string;
  readonly target?: string;
  readonly size?: number;
  readonly extractedSize?: number;
}

/** Bytes to read an archive from. The position of a read is never less than that of the read before. */
export interface TarInput {
  /** In bytes; infinite if the end is unknown. */
  readonly size: number;
  /** Returns fewer bytes than `length` at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

export interface TarMembers {
  readonly members: readonly TarMember[];
  /** Whether the empty block that marks the end is there. Some programs do not write it. */
  readonly isTerminated: boolean;
}

/** Lists the members. Throws a `TarMistake` if the file is not a tar archive or is truncated within a member. */
export async function tarMembers(file: FileHandle): Promise<TarMembers> {
  const { size } = await file.stat();
  if (size === 0) throw new TarMistake('is empty');
  const members: TarMember[] = [];
  const walk = walkTar({ size, read: (position, length) => readAt(file, position, length) });
  for (;;) {
    const { done, value } = await walk.next();
    if (done) return { members, isTerminated: value.isTerminated };
    if (members.length === MAX_MEMBERS) throw new TarMistake(`has more than ${MAX_MEMBERS} files`);
    members.push(value);
  }
}

/** Yields the members in their order. Throws a `TarMistake` as `tarMembers` does. */
export async function* walkTar(input: TarInput): AsyncGenerator<TarMember, Pick<TarMembers, 'isTerminated'>> {
  let long: LongFields = {};
  let from = 0;
  let at = 0;
  const blockAt = blockReader(input);
  for (;;) {
    const block = await blockAt(at);
    if (block.length === 0) return { isTerminated: false };
    if (block.length === BLOCK && block.every((byte) => byte === 0)) return { isTerminated: true };
    if (block.length < BLOCK) throw at === 0 ? notTar() : truncated(input.size);
    const header = headerOf(block);
    if (header === undefined) {
      throw at === 0 ? notTar() : new TarMistake(`is damaged: no tar header at byte ${at}`);
    }
    let contentAt = at + BLOCK;
    for (let isExtended = header.isExtended; isExtended; contentAt += BLOCK) {
      isExtended = (await blockAt(contentAt))[EXTENDED_FLAG_AT] === 1;
    }
    const size = long.size ?? header.size;
    const to = contentAt + Math.ceil(size / BLOCK) * BLOCK;
    if (contentAt + size > input.size) throw truncated(input.size);
    at = to;
    if (header.type === 'L' || header.type === 'K' || header.type === 'x' || header.type === 'g') {
      if (size > LONGEST_HEADER) throw new TarMistake(`is damaged: a header of ${size} bytes at byte ${contentAt}`);
      const content = await input.read(contentAt, size);
      if (header.type === 'L') long = { ...long, name: textOf(content) };
      if (header.type === 'K') long = { ...long, target: textOf(content) };
      if (header.type === 'x') long = { ...long, ...paxFields(content) };
      continue;
    }
    const name = (long.name ?? header.name).replace(/^(?:\.?\/)+/, '');
    const extractedSize = Math.max(size, long.extractedSize ?? header.extractedSize);
    const target = long.target ?? header.target;
    yield { name, isFile: FILE_TYPES.has(header.type), target, size, extractedSize, from, contentAt, to };
    long = {};
    from = to;
  }
}

/** Bytes read at once: the headers of small members are close together. */
const READ_AHEAD = 64 * 1024;

/** Returns a function that reads a block, shorter at the end of the file, from what was read ahead if possible. */
function blockReader(input: TarInput): (position: number) => Promise<Buffer> {
  let ahead: Buffer = Buffer.alloc(0);
  let aheadAt = 0;
  return async (position) => {
    if (position < aheadAt || position + BLOCK > aheadAt + ahead.length) {
      ahead = await input.read(position, READ_AHEAD);
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
  const type = String.fromCharCode(block[156] ?? 0);
  const isSparse = type === GNU_SPARSE;
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    type,
    target: textOf(block.subarray(157, 257)),
    size,
    extractedSize: (isSparse ? numberIn(block.subarray(483, 495)) : undefined) ?? size,
    isExtended: isSparse && block[482] === 1,
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
function paxFields(content: Buffer): LongFields {
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
  const [path, target] = [records.get('path'), records.get('linkpath')];
  const [size, sparse, sparseBefore1] = ['size', 'GNU.sparse.realsize', 'GNU.sparse.size'].map((key) =>
    sizeOf(records.get(key)),
  );
  const extractedSize = sparse ?? sparseBefore1;
  return {
    ...(path === undefined ? {} : { name: path }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { size }),
    ...(extractedSize === undefined ? {} : { extractedSize }),
  };
}

function sizeOf(text: string | undefined): number | undefined {
  const size = Number(text ?? Number.NaN);
  return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
}
