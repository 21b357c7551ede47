const encoder = new TextEncoder();
const decoder = new TextDecoder();

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
