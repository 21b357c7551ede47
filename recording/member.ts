/**
 * How lines lie in a file: in gzip members, so that `zcat` reads them, whose header says how long the member is and when
 * its first line was: nobody has to expand a file to find a moment in it, and a torn end is seen for what it is.
 */
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/** What is known of a member without expanding it. */
export interface MemberHead {
  /** In bytes, with its header. */
  readonly size: number;
  /** When its first line was, in milliseconds since the epoch. */
  readonly at: number;
  /**
   * Whether a replay can begin with its first line: `anew` where a life begins with it, or a file, so that it need not
   * belong to what comes before; `again` in the midst of what it belongs to.
   */
  readonly begins: (typeof BEGINS)[number];
  /** How many entries of the boundary it has. */
  readonly entries: number;
  /** How much in it failed: calls, and what a Warning was told of. */
  readonly failures: number;
}

const BEGINS = ['no', 'again', 'anew'] as const;
/** No member is larger: it would be no recording. */
const MOST_BYTES = 2 ** 28;
/** The latest moment that a date can have, in milliseconds since the epoch. */
const LATEST = 8.64e15;

/** Text that becomes a member. */
export interface MemberText extends Omit<MemberHead, 'size'> {
  readonly text: string;
}

/** Compresses as gzip's deflate does, without a header. */
export type Deflate = (bytes: Uint8Array) => Promise<Uint8Array>;

/** What each member begins with. RFC 1952: magic, deflate, FEXTRA, no time, no extra flags, unknown system. */
export const MAGIC = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255]);
/** Our field: the whole size, the time, how a replay can begin, how much there is in it. */
const OURS = Buffer.from('SL');
const FIELD = 4 + 8 + 1 + 4 + 4;
const EXTRA = OURS.length + 2 + FIELD;
export const HEADER = MAGIC.length + 2 + EXTRA;
const TRAILER = 8;

const AT = { extra: MAGIC.length, ours: MAGIC.length + 2, field: MAGIC.length + 4, size: MAGIC.length + 6 };

/** The bytes of a member. */
export async function memberOf({ text, at, begins, entries, failures }: MemberText, deflate: Deflate): Promise<Buffer> {
  const bytes = Buffer.from(text);
  const body = await deflate(bytes);
  const [header, trailer] = [Buffer.alloc(HEADER), Buffer.alloc(TRAILER)];
  MAGIC.copy(header);
  header.writeUInt16LE(EXTRA, AT.extra);
  OURS.copy(header, AT.ours);
  header.writeUInt16LE(FIELD, AT.field);
  header.writeUInt32LE(HEADER + body.length + TRAILER, AT.size);
  header.writeDoubleLE(at, AT.size + 4);
  header.writeUInt8(BEGINS.indexOf(begins), AT.size + 12);
  header.writeUInt32LE(entries, AT.size + 13);
  header.writeUInt32LE(failures, AT.size + 17);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([header, body, trailer]);
}

/** What the first bytes say of the member that they begin; undefined where they are no such header. */
export function headOf(bytes: Buffer): MemberHead | undefined {
  if (bytes.length < HEADER || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const isOurs =
    bytes.readUInt16LE(AT.extra) === EXTRA &&
    bytes.subarray(AT.ours, AT.field).equals(OURS) &&
    bytes.readUInt16LE(AT.field) === FIELD;
  const [size, at] = [bytes.readUInt32LE(AT.size), bytes.readDoubleLE(AT.size + 4)];
  const begins = BEGINS[bytes.readUInt8(AT.size + 12)];
  const [entries, failures] = [bytes.readUInt32LE(AT.size + 13), bytes.readUInt32LE(AT.size + 17)];
  const isWhole = size >= HEADER + TRAILER && size <= MOST_BYTES && Math.abs(at) <= LATEST;
  return isOurs && isWhole && begins !== undefined ? { size, at, begins, entries, failures } : undefined;
}
