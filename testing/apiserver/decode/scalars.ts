/** Reads and writes quantities, times and bytes as a kube-apiserver does. */
import { isRfc3339Time } from '../../../kubernetes/api/schema/scalars.ts';
import { nanosOf, parseQuantity } from '../../../kubernetes/api/values/quantity.ts';
import type { Json } from '../json.ts';
import { DecodeError } from './decodeError.ts';

const NANO = 1_000_000_000n;
/** The suffixes of quantities, largest first, for quantities with a binary suffix and for all others. */
const BINARY = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki', ''] as const;
const DECIMAL = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u', 'n'] as const;
/** The exponents that replace suffixes if a quantity was written with one. */
const EXPONENTS: ReadonlyMap<string, string> = new Map([
  ...([
    ['E', 'e18'],
    ['P', 'e15'],
    ['T', 'e12'],
    ['G', 'e9'],
    ['M', 'e6'],
    ['k', 'e3'],
  ] as const),
  ...([
    ['m', 'e-3'],
    ['u', 'e-6'],
    ['n', 'e-9'],
  ] as const),
]);
const QUANTITY_PATTERN = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';

/** A quantity in its canonical form: `1000m` is `1`, `1024Mi` is `1Gi` (`CanonicalizeBytes` of apimachinery). */
export function quantityOf(value: Json): string {
  const text = typeof value === 'number' ? String(value) : value;
  const nanos = typeof text === 'string' ? parseQuantity(text) : undefined;
  if (typeof text !== 'string' || nanos === undefined)
    throw new DecodeError(`quantities must match the regular expression '${QUANTITY_PATTERN}'`);
  const exponents = /[eE][-+]?\d+$/.test(text) ? EXPONENTS : undefined;
  // A fractional quantity is written in decimal form even if it had a binary suffix.
  const suffixes = /i$/.test(text) && nanos % NANO === 0n ? BINARY : DECIMAL;
  for (const suffix of suffixes) {
    const unit = nanosOf(`1${suffix}`);
    if (nanos !== 0n && nanos % unit === 0n) return `${nanos / unit}${exponents?.get(suffix) ?? suffix}`;
  }
  return '0';
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,](?<fraction>\d+))?(?<zone>Z|[+-]\d\d:\d\d)$/;
const MICROSECONDS = 6;
const ZONE = 'Z07:00';
const SECONDS = '2006-01-02T15:04:05';

/** A time in UTC with whole seconds, or with microseconds if `isMicro`. */
export function timeOf(value: Json, isMicro: boolean): string {
  const parts = typeof value === 'string' ? TIME.exec(value)?.groups : undefined;
  const at = typeof value === 'string' && parts !== undefined ? new Date(value.replace(',', '.')) : undefined;
  const text = JSON.stringify(value);
  const layout = isMicro ? `${SECONDS}.000000${ZONE}` : SECONDS + ZONE;
  const refused = (rest: string, expected: string): DecodeError =>
    new DecodeError(`parsing time ${text} as "${layout}": cannot parse ${rest} as "${expected}"`);
  if (at === undefined || Number.isNaN(at.getTime())) throw refused(text, '2006');
  if (typeof value === 'string' && !isRfc3339Time(value))
    throw new DecodeError(`parsing time ${text}: day out of range`);
  const seconds = at.toISOString().slice(0, SECONDS.length);
  if (!isMicro) return `${seconds}Z`;
  // Go accepts a fraction that the layout lacks, but requires one that the layout has.
  if (parts?.fraction === undefined) throw refused(JSON.stringify(parts?.zone), '.000000');
  return `${seconds}.${parts.fraction.slice(0, MICROSECONDS).padEnd(MICROSECONDS, '0')}Z`;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes in base64. Throws Go's error if they are malformed. */
export function bytesOf(value: Json): Json {
  if (typeof value !== 'string') return value;
  const text = value.replaceAll(/[\r\n]/g, '');
  if (BASE64.test(text)) return text;
  const [valid = ''] = /^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{0,3}/.exec(text) ?? [];
  throw new DecodeError(`illegal base64 data at input byte ${valid.length}`);
}
