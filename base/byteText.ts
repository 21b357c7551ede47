/** Bytes as text that need not be UTF-8: each byte that is none stands as half a surrogate pair, which no text has. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LONE = 0xdc00;
const [FIRST_LONE, LAST_LONE] = [0xdc80, 0xdcff];
const [FIRST_HIGH, LAST_HIGH] = [0xd800, 0xdbff];
/** Of what a code unit of a text takes at most as UTF-8. */
const MOST_BYTES = 3;

/** A text that `bytesOfText` makes the same bytes of; of UTF-8 the text that it is. */
export function textOfBytes(bytes: Buffer): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return whole;
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(bytes, at);
    if (length === 0) {
      if (from < at) parts.push(bytes.toString('utf8', from, at));
      parts.push(String.fromCharCode(LONE + (bytes[at] ?? 0)));
      from = at + 1;
    }
    at += length || 1;
  }
  parts.push(bytes.toString('utf8', from));
  return parts.join('');
}

export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes = Buffer.alloc(text.length * MOST_BYTES);
  let length = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // The second half of a pair is no byte.
    if (unit >= FIRST_HIGH && unit <= LAST_HIGH && isLow(text.charCodeAt(at + 1))) at += 1;
    else if (unit >= FIRST_LONE && unit <= LAST_LONE) {
      if (from < at) length += bytes.write(text.slice(from, at), length);
      bytes[length] = unit - LONE;
      length += 1;
      from = at + 1;
    }
  }
  length += bytes.write(text.slice(from), length);
  return Buffer.from(bytes.subarray(0, length));
}

const isLow = (unit: number): boolean => unit >= LONE && unit <= 0xdfff;

function decoded(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** By the first byte of a character, where its second is not any: the least and the most that that may be (RFC 3629). */
const SECONDS: ReadonlyMap<number, readonly [number, number]> = new Map([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
]);
const ANY = [0x80, 0xbf] as const;

/** How many bytes the character takes that begins there; 0 where none does. */
function lengthAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (let index = 1; index < length; index += 1) {
    const [least, most] = index === 1 ? (SECONDS.get(first) ?? ANY) : ANY;
    const byte = bytes[at + index] ?? 0;
    if (byte < least || byte > most) return 0;
  }
  return length;
}
