const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the length in bytes of a text in UTF-8, without encoding it. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800) length += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      length += 4;
      index++;
    } else length += 3;
  }
  return length;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns the longest prefix of a text that fits in `maxBytes` bytes of UTF-8 without splitting a character. */
export function truncateToBytes(text: string, maxBytes: number): string {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const isContinuation = (index: number) => ((bytes[index] ?? 0) & 0b1100_0000) === 0b1000_0000;
  let end = maxBytes;
  while (end > 0 && isContinuation(end)) end--;
  return decoder.decode(bytes.subarray(0, end));
}
