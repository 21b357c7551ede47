const NANO = 1_000_000_000n;
const LARGEST = 2n ** 63n - 1n;
/** Absent digits are zero, so that `m` and `.` are 0, as in `ParseQuantity` of `apimachinery/pkg/api/resource/quantity.go`. */
const FORM = /^(?!$)([+-]?)(\d*\.?\d*)(n|u|m|k|M|G|T|P|E|[KMGTPE]i|[eE][+-]?\d+)?$/;

/** How much of a unit a suffix is, in nanos of it. */
const SUFFIXES: ReadonlyMap<string, bigint> = new Map([
  ['n', 1n],
  ['u', 1_000n],
  ['m', 1_000_000n],
  ['', NANO],
  ['k', NANO * 10n ** 3n],
  ['M', NANO * 10n ** 6n],
  ['G', NANO * 10n ** 9n],
  ['T', NANO * 10n ** 12n],
  ['P', NANO * 10n ** 15n],
  ['E', NANO * 10n ** 18n],
  ['Ki', NANO * 2n ** 10n],
  ['Mi', NANO * 2n ** 20n],
  ['Gi', NANO * 2n ** 30n],
  ['Ti', NANO * 2n ** 40n],
  ['Pi', NANO * 2n ** 50n],
  ['Ei', NANO * 2n ** 60n],
]);

/** Reads a Kubernetes quantity (`100m`, `1.5Gi`, `2e3`) as nanos, finer parts rounded away from zero; undefined if it is none. */
export function parseQuantity(text: string): bigint | undefined {
  const [, sign, digits, suffix = ''] = FORM.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const [whole = '', fraction = ''] = digits.split('.');
  const scale = 10n ** BigInt(fraction.length);
  const nanos = scaled(BigInt(whole + fraction), suffix, scale);
  const bounded = nanos > LARGEST * NANO ? LARGEST * NANO : nanos;
  return sign === '-' ? -bounded : bounded;
}

function scaled(digits: bigint, suffix: string, scale: bigint): bigint {
  const known = SUFFIXES.get(suffix);
  if (known !== undefined) return divideUp(digits * known, scale);
  // Beyond these exponents the result is bounded anyway, and a huge power would only cost time.
  const exponent = Math.max(-60, Math.min(60, Number(suffix.slice(1))));
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? divideUp(digits * NANO, scale * power) : divideUp(digits * NANO * power, scale);
}

/** Divides positive numbers, rounding up. */
function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}

/** A quantity in nanos of its unit; throws a RangeError on what is none. */
export function nanosOf(text: string): bigint {
  const nanos = parseQuantity(text);
  if (nanos === undefined) throw new RangeError(`not a quantity: ${text}`);
  return nanos;
}

/** A quantity in thousandths of its unit (millicores for cpu), rounded up; throws a RangeError on what is none. */
export function milliValue(text: string): number {
  return roundedUp(nanosOf(text), 'milli');
}

/** A quantity in whole units (bytes for memory), rounded up; throws a RangeError on what is none. */
export function wholeValue(text: string): number {
  return roundedUp(nanosOf(text), 'whole');
}

/** Nanos as a number of thousandths or whole units, rounded up. */
export function roundedUp(nanos: bigint, to: 'milli' | 'whole'): number {
  const unit = to === 'milli' ? NANO / 1000n : NANO;
  return Number(nanos > 0n ? divideUp(nanos, unit) : nanos / unit);
}

const BINARY = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki', ''];
const DECIMAL = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u', 'n'];

/** Writes nanos with the largest suffix that leaves a whole number; a binary amount that needs a fraction is decimal. */
export function formatQuantity(nanos: bigint, family: 'decimal' | 'binary' = 'decimal'): string {
  if (nanos === 0n) return '0';
  const suffixes = family === 'binary' && nanos % NANO === 0n ? BINARY : DECIMAL;
  const suffix = suffixes.find((each) => nanos % (SUFFIXES.get(each) ?? 1n) === 0n) ?? 'n';
  return `${nanos / (SUFFIXES.get(suffix) ?? 1n)}${suffix}`;
}

/** A quantity as the API has it, in no finer parts than thousandths: `0.5` is `500m`, `1024Ki` is `1Mi`. */
export function canonicalQuantity(text: string): string {
  return quantityLike(nanosOf(text), text);
}

/** Nanos in the family of another quantity, as sums are written in that of their first addend. */
export function quantityLike(nanos: bigint, like: string): string {
  const unit = NANO / 1000n;
  const milli = (nanos < 0n ? -divideUp(-nanos, unit) : divideUp(nanos, unit)) * unit;
  return formatQuantity(milli, like.endsWith('i') ? 'binary' : 'decimal');
}
