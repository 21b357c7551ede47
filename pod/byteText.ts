/** Bytes as text that need not be UTF-8: each byte that is none stands as half a surrogate pair, which no text has. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LONE = 0xdc00;
const LONE_BYTES = /([\udc80-\udcff])/u;

/** A text that `bytesOfText` makes the same bytes of; of UTF-8 the text that it is. */
export function textOfBytes(bytes: Buffer): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return whole;
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const character = bytes.subarray(at, at + lengthAt(bytes, at));
    const text = decoded(character);
    parts.push(text ?? String.fromCharCode(LONE + (bytes[at] ?? 0)));
    at += text === undefined ? 1 : character.length;
  }
  return parts.join('');
}

export function bytesOfText(text: string): Buffer {
  const parts = text.split(LONE_BYTES);
  if (parts.length === 1) return Buffer.from(text);
  return Buffer.concat(
    parts.map((part) => (LONE_BYTES.test(part) ? Buffer.of(part.charCodeAt(0) - LONE) : Buffer.from(part))),
  );
}

/** How many bytes the character takes that begins there, if one does. */
function lengthAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

function decoded(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
