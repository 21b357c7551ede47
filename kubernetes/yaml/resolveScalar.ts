/** Resolves scalars to values as goyaml.v2 does (`resolve.go`) for sigs.k8s.io/yaml. */
import { base64Digits } from '../api/values/base64.ts';

/** The value of a scalar. An integer is a bigint, and a float is a number. */
export type ScalarValue = string | number | bigint | boolean | null;

/** Thrown if a scalar cannot be converted to the type of its tag. */
export class ScalarTypeError extends Error {
  override readonly name = 'UnresolvedScalar';
}

const TRUE_WORDS = ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'];
const FALSE_WORDS = ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'];
const NULL_WORDS = ['', '~', 'null', 'Null', 'NULL'];
const NAN_WORDS = ['.nan', '.NaN', '.NAN'];
const POSITIVE_INFINITY_WORDS = ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'];
const NEGATIVE_INFINITY_WORDS = ['-.inf', '-.Inf', '-.INF'];

const KEYWORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ...TRUE_WORDS.map((word) => [word, true] as const),
  ...FALSE_WORDS.map((word) => [word, false] as const),
  ...NULL_WORDS.map((word) => [word, null] as const),
  ...NAN_WORDS.map((word) => [word, Number.NaN] as const),
  ...POSITIVE_INFINITY_WORDS.map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...NEGATIVE_INFINITY_WORDS.map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Resolves a plain scalar without a tag. Timestamps remain strings, because `decode.go` also returns them as written.
 */
export function resolvePlain(text: string): ScalarValue {
  const keyword = KEYWORDS.get(text);
  if (keyword !== undefined) return keyword;
  // Like Go, accept underscores only between digits in a number that starts with a dot. In any other number, ignore all
  // underscores.
  if (text.startsWith('.')) return parseFloat64(/^\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?$/, text) ?? text;
  if (!/^[-+\d]/.test(text)) return text;
  const digits = text.replaceAll('_', '');
  return (
    parseInteger(digits) ??
    parseFloat64(/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/, digits) ??
    parseSignedBinary(digits) ??
    text
  );
}

/** Whether Kubernetes would interpret an unquoted string as something other than a string. */
export const needsQuotes = (text: string): boolean => text === '<<' || typeof resolvePlain(text) !== 'string';

/**
 * Parses an integer like Go's `ParseInt` or `ParseUint` with base 0. A prefix or a leading 0 determines the base. Only
 * an integer without a sign may exceed 63 bits.
 */
function parseInteger(digits: string): bigint | undefined {
  const match = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9]\d*)$/.exec(digits);
  const [, sign, literal] = match ?? [];
  if (literal === undefined) return undefined;
  const magnitude = BigInt(/^0[0-7]/.test(literal) ? `0o${literal}` : literal);
  const value = sign === '-' ? -magnitude : magnitude;
  return value >= MIN_INT64 && value <= (sign === '' ? MAX_UINT64 : MAX_INT64) ? value : undefined;
}

/**
 * Parses a number that matches `pattern`. Returns undefined if the pattern does not match or a 64-bit float cannot
 * represent the number.
 */
function parseFloat64(pattern: RegExp, text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? value : undefined;
}

/** Parses a binary number with the sign after the prefix (`0b-101`), which goyaml.v2 accepts unintentionally. */
function parseSignedBinary(digits: string): bigint | undefined {
  const [, sign, bits] = /^0b([-+])([01]+)$/.exec(digits) ?? [];
  if (bits === undefined) return undefined;
  const value = BigInt(`0b${bits}`) * (sign === '-' ? -1n : 1n);
  return value >= MIN_INT64 && value <= MAX_INT64 ? value : undefined;
}

const TAG_PREFIX = 'tag:yaml.org,2002:';

/** Resolves a scalar with a tag. If the tag is not a standard YAML tag, the scalar remains a string. */
export function resolveTagged(tag: string, text: string): ScalarValue {
  const type = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : undefined;
  switch (type) {
    case 'binary':
      return decodeBase64(text);
    case 'bool':
    case 'int':
    case 'float':
    case 'null':
    case 'timestamp':
      return resolveAs(type, text);
    default:
      return text;
  }
}

function resolveAs(type: string, text: string): ScalarValue {
  const value = resolvePlain(text);
  if (type === 'timestamp' && isTimestamp(text)) return text;
  const resolvedType = typeOf(value);
  if (resolvedType === type) return value;
  if (type === 'float' && typeof value === 'bigint' && value <= MAX_INT64) return Number(value);
  throw new ScalarTypeError(`cannot decode !!${resolvedType} \`${text}\` as a !!${type}`);
}

function typeOf(value: ScalarValue): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float';
    default:
      return 'str';
  }
}

const DATE_PATTERN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](?<time>.*?)(?:Z|[-+](?<zone>\d{2}:\d{2})))|(?: (?<local>.*)))?$/;
const TIME_PATTERN = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?$/;

/** Whether a string has one of the timestamp formats of goyaml.v2. */
function isTimestamp(text: string): boolean {
  const match = DATE_PATTERN.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1, 4).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  const { time, zone, local } = match.groups ?? {};
  const timeOfDay = time ?? local;
  return (timeOfDay === undefined || isTime(timeOfDay)) && (zone === undefined || isTime(`${zone}:00`));
}

function daysIn(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeapYear ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTime(text: string): boolean {
  const [hours, minutes, seconds] = (TIME_PATTERN.exec(text) ?? []).slice(1).map(Number);
  return hours !== undefined && hours < 24 && (minutes ?? 60) < 60 && (seconds ?? 60) < 60;
}

function decodeBase64(text: string): string {
  const digits = base64Digits(text);
  if (digits === undefined) throw new ScalarTypeError('the value of !!binary is not base64');
  return decodeUtf8(Buffer.from(digits, 'base64'));
}

/** Matches one UTF-8 character in a string of bytes (`unicode/utf8`), or else one invalid byte. */
const UTF8_PATTERN =
  /(?<character>[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|\xed[\x80-\x9f]|[\xe1-\xec\xee\xef][\x80-\xbf])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|\xf4[\x80-\x8f]|[\xf1-\xf3][\x80-\xbf])[\x80-\xbf]{2})|[\x80-\xff]/g;

/**
 * Decodes UTF-8. Replaces each invalid byte with U+FFFD, like Go's JSON encoder, whereas `Buffer` replaces a whole
 * sequence of invalid bytes with one U+FFFD.
 */
function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes('\ufffd')) return text;
  return bytes
    .toString('latin1')
    .replace(UTF8_PATTERN, (match, character) =>
      character === undefined ? '\ufffd' : Buffer.from(match, 'latin1').toString(),
    );
}
