/** Resolves scalars to values, as goyaml.v2 does (`resolve.go`) for sigs.k8s.io/yaml. */

/** A bigint is an integer, a number is a float. */
export type ScalarValue = string | number | bigint | boolean | null;

/** A scalar that has no value of its tag. */
export class UnresolvedScalar extends Error {
  override readonly name = 'UnresolvedScalar';
}

const TRUE = ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'];
const FALSE = ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'];
const NULL = ['', '~', 'null', 'Null', 'NULL'];
const NAN = ['.nan', '.NaN', '.NAN'];
const POSITIVE_INFINITY = ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'];
const NEGATIVE_INFINITY = ['-.inf', '-.Inf', '-.INF'];

const WORDS: ReadonlyMap<string, ScalarValue> = new Map<string, ScalarValue>([
  ...TRUE.map((word) => [word, true] as const),
  ...FALSE.map((word) => [word, false] as const),
  ...NULL.map((word) => [word, null] as const),
  ...NAN.map((word) => [word, Number.NaN] as const),
  ...POSITIVE_INFINITY.map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...NEGATIVE_INFINITY.map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const SMALLEST_INT64 = -(2n ** 63n);
const LARGEST_INT64 = 2n ** 63n - 1n;
const LARGEST_UINT64 = 2n ** 64n - 1n;

/**
 * Resolves a scalar without a tag and quotation marks. Timestamps stay strings, because `decode.go` returns them as they
 * were written.
 */
export function resolvePlain(text: string): ScalarValue {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  // Only here do underscores count as in Go, between digits. Elsewhere all of them are dropped.
  if (text.startsWith('.')) return float(/^\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?$/, text) ?? text;
  if (!/^[-+\d]/.test(text)) return text;
  const digits = text.replaceAll('_', '');
  return (
    integer(digits) ?? float(/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/, digits) ?? signedBinary(digits) ?? text
  );
}

/** Whether Kubernetes would read a string as something else if it were written without quotation marks. */
export const needsQuotes = (text: string): boolean => text === '<<' || typeof resolvePlain(text) !== 'string';

/**
 * Returns what Go's `ParseInt` or `ParseUint` reads with base 0: a prefix or a leading 0 selects the base, and only
 * integers without a sign may exceed 63 bits.
 */
function integer(digits: string): bigint | undefined {
  const match = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9]\d*)$/.exec(digits);
  const [, sign, literal] = match ?? [];
  if (literal === undefined) return undefined;
  const magnitude = BigInt(/^0[0-7]/.test(literal) ? `0o${literal}` : literal);
  const value = sign === '-' ? -magnitude : magnitude;
  return value >= SMALLEST_INT64 && value <= (sign === '' ? LARGEST_UINT64 : LARGEST_INT64) ? value : undefined;
}

/** Returns a number that matches a pattern, unless a float of 64 bits cannot hold it. */
function float(pattern: RegExp, text: string): number | undefined {
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replaceAll('_', ''));
  return Number.isFinite(value) ? value : undefined;
}

/** Returns a binary number whose sign comes after its prefix (`0b-101`), which goyaml.v2 accepts by accident. */
function signedBinary(digits: string): bigint | undefined {
  const [, sign, bits] = /^0b([-+])([01]+)$/.exec(digits) ?? [];
  if (bits === undefined) return undefined;
  const value = BigInt(`0b${bits}`) * (sign === '-' ? -1n : 1n);
  return value >= SMALLEST_INT64 && value <= LARGEST_INT64 ? value : undefined;
}

const TAG_PREFIX = 'tag:yaml.org,2002:';

/** Resolves a scalar that has a tag. A tag that is not one of YAML's own leaves it a string. */
export function resolveTagged(tag: string, text: string): ScalarValue {
  const type = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : undefined;
  switch (type) {
    case 'binary':
      return textOfBase64(text);
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
  if (type === 'float' && typeof value === 'bigint' && value <= LARGEST_INT64) return Number(value);
  throw new UnresolvedScalar(`cannot decode !!${resolvedType} \`${text}\` as a !!${type}`);
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

const DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](?<time>.*?)(?:Z|[-+](?<zone>\d{2}:\d{2})))|(?: (?<local>.*)))?$/;
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?$/;

/** Whether a text is in one of the formats that goyaml.v2 allows for timestamps. */
function isTimestamp(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1, 4).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  const { time, zone, local } = match.groups ?? {};
  const clock = time ?? local;
  return (clock === undefined || isTime(clock)) && (zone === undefined || isTime(`${zone}:00`));
}

function daysIn(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeapYear ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTime(text: string): boolean {
  const [hours, minutes, seconds] = (TIME.exec(text) ?? []).slice(1).map(Number);
  return hours !== undefined && hours < 24 && (minutes ?? 60) < 60 && (seconds ?? 60) < 60;
}

function textOfBase64(text: string): string {
  const base64 = text.replace(/[\r\n]/g, '');
  if (!/^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/.test(base64) || base64.includes('_')) {
    throw new UnresolvedScalar('the value of !!binary is not base64');
  }
  return textOfBytes(Buffer.from(base64, 'base64'));
}

/** A character in UTF-8, as bytes (`unicode/utf8`), or else any byte. */
const UTF8 =
  /(?<character>[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|\xed[\x80-\x9f]|[\xe1-\xec\xee\xef][\x80-\xbf])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|\xf4[\x80-\x8f]|[\xf1-\xf3][\x80-\xbf])[\x80-\xbf]{2})|[\x80-\xff]/g;

/** Decodes UTF-8 as Go's JSON does, which replaces each invalid byte. `Buffer` replaces several by one character. */
function textOfBytes(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes('\ufffd')) return text;
  return bytes
    .toString('latin1')
    .replace(UTF8, (match, character) =>
      character === undefined ? '\ufffd' : Buffer.from(match, 'latin1').toString(),
    );
}
