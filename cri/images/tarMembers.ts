/** Lists the members of a tar archive (ustar, GNU or pax) from their headers. */
import type { FileHandle } from 'node:fs/promises';

/** A member and the range of the archive that it occupies, including its headers. */
export interface TarMember {
  /** Path without a leading `./` or `/`. */
  readonly name: string;
  readonly isFile: boolean;
  /** Target of a link, as written in the archive. Empty for other members. */
  readonly linkTarget: string;
  /** Size of the content, in bytes. */
  readonly size: number;
  /** Size in bytes of the extracted file. It exceeds the size of the content if the file is sparse. */
  readonly extractedSize: number;
  /** Position of the first byte of the member, including headers for long names. */
  readonly startOffset: number;
  readonly contentOffset: number;
  /** Position after the last byte of the member, including the padding. */
  readonly endOffset: number;
}

/**
 * Reason why a file is not a complete tar archive. The message is a predicate that follows the file's name, e.g. in
 * `<file> is truncated`.
 */
export class TarError extends Error {
  override readonly name = 'TarMistake';
}

const BLOCK_BYTES = 512;
/** Maximum size in bytes of a long name or a pax header. An archive with a larger one is rejected. */
const MAX_HEADER_BYTES = 1024 * 1024;
const CHECKSUM_OFFSET = 148;
const CHECKSUM_LENGTH = 8;
/** Offset of the flag in a GNU sparse header block that says whether another block follows. */
const EXTENDED_FLAG_OFFSET = 504;

/** Maximum number of members. An archive with more is rejected, because the names of all members are kept in memory. */
const MAX_MEMBERS = 100_000;

const REGULAR_FILE_TYPES: ReadonlySet<string> = new Set(['0', '\0', '7']);
const GNU_SPARSE_TYPE = 'S';

interface TarHeader {
  readonly name: string;
  readonly type: string;
  readonly linkTarget: string;
  readonly size: number;
  readonly extractedSize: number;
  /** Whether another header block follows that continues the sparse map. */
  readonly isExtended: boolean;
}

/** Fields from a preceding header, which override those of the member's own header. */
interface PaxOverrides {
  readonly name?: string;
  readonly target?: string;
  readonly size?: number;
  readonly extractedSize?: number;
}

/** Source of an archive's bytes. The positions of consecutive reads never decrease. */
export interface TarInput {
  /** Size in bytes. Infinity if the size is unknown. */
  readonly size: number;
  /** Returns the bytes at a position. Returns fewer than `length` bytes at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

export interface TarMembers {
  readonly members: readonly TarMember[];
  /** Whether the archive ends with an empty block. Some programs do not write one. */
  readonly isTerminated: boolean;
}

/**
 * Lists the members of an archive. Throws a `TarError` if the file is not a tar archive or is truncated within a
 * member.
 */
export async function listTarMembers(file: FileHandle): Promise<TarMembers> {
  const { size } = await file.stat();
  if (size === 0) throw new TarError('is empty');
  const members: TarMember[] = [];
  const memberGenerator = walkTar({ size, read: (position, length) => readAt(file, position, length) });
  for (;;) {
    const { done, value } = await memberGenerator.next();
    if (done) return { members, isTerminated: value.isTerminated };
    if (members.length === MAX_MEMBERS) throw new TarError(`has more than ${MAX_MEMBERS} files`);
    members.push(value);
  }
}

/** Yields the members in order. Throws a `TarError` like `listTarMembers`. */
export async function* walkTar(input: TarInput): AsyncGenerator<TarMember, Pick<TarMembers, 'isTerminated'>> {
  let overrides: PaxOverrides = {};
  let startOffset = 0;
  let offset = 0;
  const readBlock = createBlockReader(input);
  for (;;) {
    const block = await readBlock(offset);
    if (block.length === 0) return { isTerminated: false };
    if (block.length === BLOCK_BYTES && block.every((byte) => byte === 0)) return { isTerminated: true };
    if (block.length < BLOCK_BYTES) throw offset === 0 ? createNotTarError() : createTruncatedError(input.size);
    const header = parseHeader(block);
    if (header === undefined) {
      throw offset === 0 ? createNotTarError() : new TarError(`is damaged: no tar header at byte ${offset}`);
    }
    let contentOffset = offset + BLOCK_BYTES;
    for (let isExtended = header.isExtended; isExtended; contentOffset += BLOCK_BYTES) {
      isExtended = (await readBlock(contentOffset))[EXTENDED_FLAG_OFFSET] === 1;
    }
    const size = overrides.size ?? header.size;
    const endOffset = contentOffset + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    if (contentOffset + size > input.size) throw createTruncatedError(input.size);
    offset = endOffset;
    if (header.type === 'L' || header.type === 'K' || header.type === 'x' || header.type === 'g') {
      if (size > MAX_HEADER_BYTES) throw new TarError(`is damaged: a header of ${size} bytes at byte ${contentOffset}`);
      const content = await input.read(contentOffset, size);
      if (header.type === 'L') overrides = { ...overrides, name: parseString(content) };
      if (header.type === 'K') overrides = { ...overrides, target: parseString(content) };
      if (header.type === 'x') overrides = { ...overrides, ...parsePaxFields(content) };
      continue;
    }
    const name = (overrides.name ?? header.name).replace(/^(?:\.?\/)+/, '');
    const extractedSize = Math.max(size, overrides.extractedSize ?? header.extractedSize);
    const linkTarget = overrides.target ?? header.linkTarget;
    yield {
      name,
      isFile: REGULAR_FILE_TYPES.has(header.type),
      linkTarget,
      size,
      extractedSize,
      startOffset,
      contentOffset,
      endOffset,
    };
    overrides = {};
    startOffset = endOffset;
  }
}

/**
 * Number of bytes to read at once. It is larger than a header, because the headers of small members are close together.
 */
const READ_AHEAD_BYTES = 64 * 1024;

/** Returns a function that reads a block through a read-ahead buffer. A block at the end of the file may be shorter. */
function createBlockReader(input: TarInput): (position: number) => Promise<Buffer> {
  let readAhead: Buffer = Buffer.alloc(0);
  let readAheadOffset = 0;
  return async (position) => {
    if (position < readAheadOffset || position + BLOCK_BYTES > readAheadOffset + readAhead.length) {
      readAhead = await input.read(position, READ_AHEAD_BYTES);
      readAheadOffset = position;
    }
    return readAhead.subarray(position - readAheadOffset, position - readAheadOffset + BLOCK_BYTES);
  };
}

const createNotTarError = (): TarError => new TarError('is not a tar archive');

const createTruncatedError = (fileSize: number): TarError =>
  new TarError(`is truncated: it ends after ${fileSize} bytes, in the middle of a file`);

/** Reads `length` bytes, or fewer at the end of the file. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filledBytes = 0;
  while (filledBytes < length) {
    const { bytesRead } = await file.read(buffer, filledBytes, length - filledBytes, position + filledBytes);
    if (bytesRead === 0) break;
    filledBytes += bytesRead;
  }
  return buffer.subarray(0, filledBytes);
}

/** Parses a header block. Returns undefined if the checksum is wrong. */
function parseHeader(block: Buffer): TarHeader | undefined {
  // The checksum field itself counts as spaces in the sum. Plain loops are used for speed, because the sum covers every
  // byte of every header.
  let sum = CHECKSUM_LENGTH * 0x20;
  for (let index = 0; index < CHECKSUM_OFFSET; index += 1) sum += block[index] ?? 0;
  for (let index = CHECKSUM_OFFSET + CHECKSUM_LENGTH; index < BLOCK_BYTES; index += 1) sum += block[index] ?? 0;
  const size = parseNumber(block.subarray(124, 136));
  if (size === undefined || parseNumber(block.subarray(CHECKSUM_OFFSET, CHECKSUM_OFFSET + CHECKSUM_LENGTH)) !== sum) {
    return undefined;
  }
  const isUstar = block.subarray(257, 262).toString('latin1') === 'ustar';
  const namePrefix = isUstar && block[262] === 0 ? parseString(block.subarray(345, 500)) : '';
  const name = parseString(block.subarray(0, 100));
  const type = String.fromCharCode(block[156] ?? 0);
  const isSparse = type === GNU_SPARSE_TYPE;
  return {
    name: namePrefix === '' ? name : `${namePrefix}/${name}`,
    type,
    linkTarget: parseString(block.subarray(157, 257)),
    size,
    extractedSize: (isSparse ? parseNumber(block.subarray(483, 495)) : undefined) ?? size,
    isExtended: isSparse && block[482] === 1,
  };
}

/** Parses a number in octal digits or, if the first bit is set, in binary (GNU). */
function parseNumber(field: Buffer): number | undefined {
  const [first = 0] = field;
  if ((first & 0x80) !== 0) {
    const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, first & 0x7f);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const digits = parseString(field).trim();
  return /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : undefined;
}

function parseString(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8');
}

/** Parses the records `LENGTH KEY=VALUE\n` of a pax header. */
function parsePaxFields(content: Buffer): PaxOverrides {
  const records = new Map<string, string>();
  let offset = 0;
  while (offset < content.length) {
    const spaceOffset = content.indexOf(0x20, offset);
    const length = Number(content.subarray(offset, spaceOffset).toString('latin1'));
    if (spaceOffset < 0 || !Number.isSafeInteger(length) || length <= spaceOffset - offset) break;
    const [, key = '', value = ''] =
      /^([^=]*)=([\s\S]*)\n$/.exec(content.subarray(spaceOffset + 1, offset + length).toString()) ?? [];
    records.set(key, value);
    offset += length;
  }
  const [path, target] = [records.get('path'), records.get('linkpath')];
  const [size, sparseSize, sparseSizeBefore1] = ['size', 'GNU.sparse.realsize', 'GNU.sparse.size'].map((key) =>
    parseSize(records.get(key)),
  );
  const extractedSize = sparseSize ?? sparseSizeBefore1;
  return {
    ...(path === undefined ? {} : { name: path }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { size }),
    ...(extractedSize === undefined ? {} : { extractedSize }),
  };
}

function parseSize(text: string | undefined): number | undefined {
  const size = Number(text ?? Number.NaN);
  return Number.isSafeInteger(size) && size >= 0 ? size : undefined;
}
