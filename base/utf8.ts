const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The beginning of a text that takes at most so many bytes, no character cut in two. */
export function firstBytes(text: string, most: number): string {
  // No character of a JavaScript string takes more than three bytes.
  if (text.length * 3 <= most) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= most) return text;
  const isMiddle = (at: number) => ((bytes[at] ?? 0) & 0b1100_0000) === 0b1000_0000;
  let end = most;
  while (end > 0 && isMiddle(end)) end--;
  return decoder.decode(bytes.subarray(0, end));
}
