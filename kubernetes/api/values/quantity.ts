export const NANOS_PER_UNIT = 1_000_000_000n;
const MAX_UNITS = 2n ** 63n - 1n;
/**
 * Pattern of a quantity. Missing digits are treated as zero, so `m` and `.` are 0 (`ParseQuantity` of
 * `apimachinery/pkg/api/resource/quantity.go`).
 */
const QUANTITY_PATTERN = /^(?!$)([+-]?)(\d*\.?\d*)(n|u|m|k|M|G|T|P|E|[KMGTPE]i|[eE][+-]?\d+)?$/;

const NANOS_PER_SUFFIX: ReadonlyMap<string, bigint> = new Map([
  ['n', 1n],
  ['u', 1_000n],
  ['m', 1_000_000n],
  ['', NANOS_PER_UNIT],
  ['k', NANOS_PER_UNIT * 10n ** 3n],
  ['M', NANOS_PER_UNIT * 10n ** 6n],
  ['G', NANOS_PER_UNIT * 10n ** 9n],
  ['T', NANOS_PER_UNIT * 10n ** 12n],
  ['P', NANOS_PER_UNIT * 10n ** 15n],
  ['E', NANOS_PER_UNIT * 10n ** 18n],
  ['Ki', NANOS_PER_UNIT * 2n ** 10n],
  ['Mi', NANOS_PER_UNIT * 2n ** 20n],
  ['Gi', NANOS_PER_UNIT * 2n ** 30n],
  ['Ti', NANOS_PER_UNIT * 2n ** 40n],
  ['Pi', NANOS_PER_UNIT * 2n ** 50n],
  ['Ei', NANOS_PER_UNIT * 2n ** 60n],
]);

/**
 * Parses a Kubernetes quantity (`100m`, `1.5Gi`, `2e3`) to billionths of its unit, rounded away from zero. Returns
 * undefined if the text is invalid.
 */
export function parseQuantity(text: string): bigint | undefined {
  const [, sign, digits, suffix = ''] = QUANTITY_PATTERN.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const [whole = '', fraction = ''] = digits.split('.');
  const scale = 10n ** BigInt(fraction.length);
  const nanos = toNanos(BigInt(whole + fraction), suffix, scale);
  const boundedNanos = nanos > MAX_UNITS * NANOS_PER_UNIT ? MAX_UNITS * NANOS_PER_UNIT : nanos;
  return sign === '-' ? -boundedNanos : boundedNanos;
}

function toNanos(digits: bigint, suffix: string, scale: bigint): bigint {
  const nanosPerSuffix = NANOS_PER_SUFFIX.get(suffix);
  if (nanosPerSuffix !== undefined) return divideUp(digits * nanosPerSuffix, scale);
  // Clamp the exponent, because a huge power would be slow to compute and the result is clamped anyway.
  const exponent = Math.max(-60, Math.min(60, Number(suffix.slice(1))));
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0
    ? divideUp(digits * NANOS_PER_UNIT, scale * power)
    : divideUp(digits * NANOS_PER_UNIT * power, scale);
}

/** Divides positive numbers, rounding up. */
function divideUp(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor;
}

/** Parses a quantity to billionths of its unit. Throws a RangeError if the text is invalid. */
export function nanosOf(text: string): bigint {
  const nanos = parseQuantity(text);
  if (nanos === undefined) throw new RangeError(`not a quantity: ${text}`);
  return nanos;
}

/** Parses a quantity to thousandths (millicores for cpu), rounded up. Throws a RangeError if the text is invalid. */
export function milliValue(text: string): number {
  return nanosToUnit(nanosOf(text), 'milli');
}

/** Parses a quantity to whole units (bytes for memory), rounded up. Throws a RangeError if the text is invalid. */
export function wholeValue(text: string): number {
  return nanosToUnit(nanosOf(text), 'whole');
}

/** Converts billionths of a unit to thousandths or whole units, rounded up. */
export function nanosToUnit(nanos: bigint, unit: 'milli' | 'whole'): number {
  const nanosPerUnit = unit === 'milli' ? NANOS_PER_UNIT / 1000n : NANOS_PER_UNIT;
  return Number(nanos > 0n ? divideUp(nanos, nanosPerUnit) : nanos / nanosPerUnit);
}

const BINARY_SUFFIXES = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki', ''];
const DECIMAL_SUFFIXES = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u', 'n'];
/** Exponents by the decimal suffix that they replace in the format `exponent`, e.g. `e3` for `k`. */
const EXPONENTS: ReadonlyMap<string, string> = new Map(
  DECIMAL_SUFFIXES.map((suffix, index) => [suffix, suffix === '' ? '' : `e${18 - 3 * index}`]),
);

/** Format of a quantity (`DecimalSI`, `BinarySI` and `DecimalExponent` in Go). */
type QuantityFormat = 'decimal' | 'binary' | 'exponent';

function formatOf(text: string): QuantityFormat {
  if (text.endsWith('i')) return 'binary';
  return /[eE][-+]?\d+$/.test(text) ? 'exponent' : 'decimal';
}

/**
 * Formats an amount in billionths of its unit with the largest suffix for which the number is an integer. A binary
 * amount that is fractional or below 1024 gets a decimal suffix (`CanonicalizeBytes` of
 * `apimachinery/pkg/api/resource/quantity.go`).
 */
export function formatQuantity(nanos: bigint, format: QuantityFormat = 'decimal'): string {
  if (nanos === 0n) return '0';
  const isSmall = nanos > -1024n * NANOS_PER_UNIT && nanos < 1024n * NANOS_PER_UNIT;
  const isBinary = format === 'binary' && !isSmall && nanos % NANOS_PER_UNIT === 0n;
  const suffixes = isBinary ? BINARY_SUFFIXES : DECIMAL_SUFFIXES;
  const suffix = suffixes.find((each) => nanos % (NANOS_PER_SUFFIX.get(each) ?? 1n) === 0n) ?? 'n';
  const suffixText = format === 'exponent' ? (EXPONENTS.get(suffix) ?? '') : suffix;
  return `${nanos / (NANOS_PER_SUFFIX.get(suffix) ?? 1n)}${suffixText}`;
}

/** Returns a quantity in canonical form, e.g. `500m` for `0.5` and `1Mi` for `1024Ki`. */
export const exactQuantity = (text: string): string => formatQuantity(nanosOf(text), formatOf(text));

/** Returns a quantity in canonical form, rounded up to thousandths. */
export function canonicalQuantity(text: string): string {
  return quantityLike(nanosOf(text), text);
}

/**
 * Formats an amount in billionths of its unit with suffixes of the same kind (decimal or binary) as in the quantity
 * `like`. Kubernetes formats a sum like its first addend.
 */
export function quantityLike(nanos: bigint, like: string): string {
  const nanosPerMilli = NANOS_PER_UNIT / 1000n;
  const roundedNanos = (nanos < 0n ? -divideUp(-nanos, nanosPerMilli) : divideUp(nanos, nanosPerMilli)) * nanosPerMilli;
  return formatQuantity(roundedNanos, formatOf(like));
}
