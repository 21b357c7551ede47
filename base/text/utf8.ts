const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the length of a string in UTF-8 bytes, without encoding it. */
export function utf8Length(text: string): number {
  let byteLength = 0;
  for (let index = 0; index < text.length; index++) {
    const codeUnit = text.charCodeAt(index);
    if (codeUnit < 0x80) byteLength += 1;
    else if (codeUnit < 0x800) byteLength += 2;
    else if (isHighSurrogate(codeUnit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      byteLength += 4;
      index++;
    } else byteLength += 3;
  }
  return byteLength;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns the longest prefix of a string that fits in `maxBytes` bytes of UTF-8 without splitting a character. */
export function truncateToBytes(text: string, maxBytes: number): string {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const isContinuationByte = (index: number) => ((bytes[index] ?? 0) & 0b1100_0000) === 0b1000_0000;
  let end = maxBytes;
  while (end > 0 && isContinuationByte(end)) end--;
  return decoder.decode(bytes.subarray(0, end));
}
