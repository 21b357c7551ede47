/**
 * Encodes and parses the gzip members of a recording file, which can be read with `zcat`. The header of each member
 * contains its size and the time of its first line, so that a reader can search the file without decompressing it and
 * can detect a torn write at its end.
 */
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/** The fields in the header of a gzip member. */
export interface MemberHead {
  /** Size in bytes, including the header. */
  readonly size: number;
  /** Time of the first line, in milliseconds since the epoch. */
  readonly at: number;
  /**
   * Whether a replay can start at the first line. `anew` marks the first member of a file or of a run of the agent,
   * before which members may be missing. `again` marks a keyframe within a file.
   */
  readonly startKind: (typeof START_KINDS)[number];
  /** Number of entries, i.e. inputs that actors received. */
  readonly entries: number;
  /** Number of failed calls and Warning events. */
  readonly failures: number;
}

const START_KINDS = ['no', 'again', 'anew'] as const;
/** Maximum size of a gzip member, in bytes. A header that states a larger size is treated as damaged. */
const MAX_MEMBER_BYTES = 2 ** 28;
/** The latest time that a Date can represent, in milliseconds since the epoch. */
const MAX_DATE_MS = 8.64e15;

/** The uncompressed content of a gzip member, with the header fields that do not depend on the compressed size. */
export interface MemberText extends Omit<MemberHead, 'size'> {
  readonly text: string;
}

/** Compresses bytes to a raw deflate stream, i.e. without a gzip header. */
export type Deflate = (bytes: Uint8Array) => Promise<Uint8Array>;

/**
 * The first bytes of every member, according to RFC 1952: the magic number, the compression method deflate, the flag
 * FEXTRA, no modification time, no extra flags, and an unknown operating system.
 */
export const MAGIC_BYTES = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255]);
/**
 * ID of this format's extra field in the gzip header. The field contains the member's size and time, whether a replay
 * can start there, and the counts of entries and failures.
 */
const FIELD_ID = Buffer.from('SL');
const FIELD_BYTES = 4 + 8 + 1 + 4 + 4;
const EXTRA_FIELD_BYTES = FIELD_ID.length + 2 + FIELD_BYTES;
export const HEADER_BYTES = MAGIC_BYTES.length + 2 + EXTRA_FIELD_BYTES;
const TRAILER_BYTES = 8;

const FIELD_OFFSETS = {
  extra: MAGIC_BYTES.length,
  ours: MAGIC_BYTES.length + 2,
  field: MAGIC_BYTES.length + 4,
  size: MAGIC_BYTES.length + 6,
};

/** Compresses lines into a gzip member with header and trailer. */
export async function encodeMember(
  { text, at, startKind, entries, failures }: MemberText,
  deflate: Deflate,
): Promise<Buffer> {
  const bytes = Buffer.from(text);
  const deflatedBytes = await deflate(bytes);
  const [header, trailer] = [Buffer.alloc(HEADER_BYTES), Buffer.alloc(TRAILER_BYTES)];
  MAGIC_BYTES.copy(header);
  header.writeUInt16LE(EXTRA_FIELD_BYTES, FIELD_OFFSETS.extra);
  FIELD_ID.copy(header, FIELD_OFFSETS.ours);
  header.writeUInt16LE(FIELD_BYTES, FIELD_OFFSETS.field);
  header.writeUInt32LE(HEADER_BYTES + deflatedBytes.length + TRAILER_BYTES, FIELD_OFFSETS.size);
  header.writeDoubleLE(at, FIELD_OFFSETS.size + 4);
  header.writeUInt8(START_KINDS.indexOf(startKind), FIELD_OFFSETS.size + 12);
  header.writeUInt32LE(entries, FIELD_OFFSETS.size + 13);
  header.writeUInt32LE(failures, FIELD_OFFSETS.size + 17);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([header, deflatedBytes, trailer]);
}

/** Parses the header of a member. Returns undefined if `bytes` do not start with a valid one. */
export function parseMemberHead(bytes: Buffer): MemberHead | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, MAGIC_BYTES.length).equals(MAGIC_BYTES)) return undefined;
  const hasRecordingField =
    bytes.readUInt16LE(FIELD_OFFSETS.extra) === EXTRA_FIELD_BYTES &&
    bytes.subarray(FIELD_OFFSETS.ours, FIELD_OFFSETS.field).equals(FIELD_ID) &&
    bytes.readUInt16LE(FIELD_OFFSETS.field) === FIELD_BYTES;
  const [size, at] = [bytes.readUInt32LE(FIELD_OFFSETS.size), bytes.readDoubleLE(FIELD_OFFSETS.size + 4)];
  const startKind = START_KINDS[bytes.readUInt8(FIELD_OFFSETS.size + 12)];
  const [entries, failures] = [
    bytes.readUInt32LE(FIELD_OFFSETS.size + 13),
    bytes.readUInt32LE(FIELD_OFFSETS.size + 17),
  ];
  const hasValidSizes = size >= HEADER_BYTES + TRAILER_BYTES && size <= MAX_MEMBER_BYTES && Math.abs(at) <= MAX_DATE_MS;
  return hasRecordingField && hasValidSizes && startKind !== undefined
    ? { size, at, startKind, entries, failures }
    : undefined;
}
