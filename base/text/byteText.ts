/**
 * Converts between bytes and text even if the bytes are not valid UTF-8. Each invalid byte becomes an unpaired low
 * surrogate (0xdc00 + the byte), which valid text never contains.
 */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LOW_SURROGATE_BASE = 0xdc00;
const [FIRST_BYTE_SURROGATE, LAST_BYTE_SURROGATE] = [0xdc80, 0xdcff];
const [FIRST_HIGH_SURROGATE, LAST_HIGH_SURROGATE] = [0xd800, 0xdbff];
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/** Returns a string that `textToBytes` converts back to the same bytes. Valid UTF-8 is decoded as usual. */
export function bytesToText(bytes: Buffer): string {
  const decodedText = decodeUtf8(bytes);
  if (decodedText !== undefined) return decodedText;
  const textParts: string[] = [];
  let runStart = 0;
  for (let index = 0; index < bytes.length; ) {
    const length = characterLength(bytes, index);
    if (length === 0) {
      if (runStart < index) textParts.push(bytes.toString('utf8', runStart, index));
      textParts.push(String.fromCharCode(LOW_SURROGATE_BASE + (bytes[index] ?? 0)));
      runStart = index + 1;
    }
    index += length || 1;
  }
  textParts.push(bytes.toString('utf8', runStart));
  return textParts.join('');
}

export function textToBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes = Buffer.alloc(text.length * MAX_BYTES_PER_UNIT);
  let byteLength = 0;
  let runStart = 0;
  for (let index = 0; index < text.length; index += 1) {
    const codeUnit = text.charCodeAt(index);
    // Skips a valid surrogate pair, because only an unpaired low surrogate represents an invalid byte.
    if (
      codeUnit >= FIRST_HIGH_SURROGATE &&
      codeUnit <= LAST_HIGH_SURROGATE &&
      isLowSurrogate(text.charCodeAt(index + 1))
    )
      index += 1;
    else if (codeUnit >= FIRST_BYTE_SURROGATE && codeUnit <= LAST_BYTE_SURROGATE) {
      if (runStart < index) byteLength += bytes.write(text.slice(runStart, index), byteLength);
      bytes[byteLength] = codeUnit - LOW_SURROGATE_BASE;
      byteLength += 1;
      runStart = index + 1;
    }
  }
  byteLength += bytes.write(text.slice(runStart), byteLength);
  return Buffer.from(bytes.subarray(0, byteLength));
}

const isLowSurrogate = (unit: number): boolean => unit >= LOW_SURROGATE_BASE && unit <= 0xdfff;

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Allowed range of the second byte, keyed by the first bytes that restrict it (RFC 3629). */
const SECOND_BYTE_RANGES: ReadonlyMap<number, readonly [number, number]> = new Map([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
]);
const CONTINUATION_RANGE = [0x80, 0xbf] as const;

/**
 * Returns the length in bytes of the UTF-8 character that starts at `offset`, or 0 if no valid character starts there.
 */
function characterLength(bytes: Buffer, offset: number): number {
  const firstByte = bytes[offset] ?? 0;
  if (firstByte < 0x80) return 1;
  const length = firstByte < 0xc2 ? 0 : firstByte < 0xe0 ? 2 : firstByte < 0xf0 ? 3 : firstByte < 0xf5 ? 4 : 0;
  for (let index = 1; index < length; index += 1) {
    const [min, max] = index === 1 ? (SECOND_BYTE_RANGES.get(firstByte) ?? CONTINUATION_RANGE) : CONTINUATION_RANGE;
    const byte = bytes[offset + index] ?? 0;
    if (byte < min || byte > max) return 0;
  }
  return length;
}
