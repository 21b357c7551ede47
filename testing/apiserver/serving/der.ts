/** Writes ASN.1 in DER (X.690). */

/** The tags of the types in certificates. */
const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

const LONG_FORM = 0x80;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

/** A value with its tag and length. */
function value(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  if (length < LONG_FORM) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, LONG_FORM + digits.length]), digits, content]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => value(TAGS.sequence, Buffer.concat(items));
export const set = (item: Uint8Array): Buffer => value(TAGS.set, item);
export const booleanTrue = (): Buffer => value(TAGS.boolean, Buffer.from([0xff]));
export const octets = (content: Uint8Array): Buffer => value(TAGS.octetString, content);
export const utf8 = (text: string): Buffer => value(TAGS.utf8String, Buffer.from(text));
/** A bit string. `unused` is the number of unused bits in the last byte. */
export const bits = (content: Uint8Array, unused = 0): Buffer =>
  value(TAGS.bitString, Buffer.concat([Buffer.from([unused]), content]));
/** `YYMMDDhhmmssZ`. */
export const utcTime = (text: string): Buffer => value(TAGS.utcTime, Buffer.from(text));

/** A non-negative integer in big-endian order. */
export function integer(bytes: Uint8Array): Buffer {
  const isNegative = (bytes[0] ?? 0) >= LONG_FORM;
  return value(TAGS.integer, isNegative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** An object identifier in dotted form, e.g. `2.5.29.17`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return value(TAGS.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(baseOf128)]));
}

/** Base 128, with the high bit set in all bytes except the last. */
function baseOf128(number: number): number[] {
  const digits = [number % 128];
  for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(128 + (left % 128));
  return digits;
}

/** Context-specific tags: explicit ones wrap a value, implicit ones replace its tag. */
export const explicit = (number: number, content: Uint8Array): Buffer => value(CONTEXT + CONSTRUCTED + number, content);
export const implicit = (number: number, content: Uint8Array): Buffer => value(CONTEXT + number, content);
