/** Values without fields, as a kube-apiserver reads and writes them. */
import { nanosOf, parseQuantity } from '../../pod/api/quantity.ts';
import type { Json } from '../json.ts';
import { DecodeError } from './decodeError.ts';

const NANO = 1_000_000_000n;
/** The suffixes of quantities, the largest first: of a quantity that is written with a binary one, and of others. */
const BINARY = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki', ''] as const;
const DECIMAL = ['E', 'P', 'T', 'G', 'M', 'k', '', 'm', 'u', 'n'] as const;
const FORM = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';

/** A quantity in its shortest form: `1000m` is `1`, `1024Mi` is `1Gi` (`CanonicalizeBytes` of apimachinery). */
export function quantityOf(value: Json): string {
  const text = typeof value === 'number' ? String(value) : value;
  const nanos = typeof text === 'string' ? parseQuantity(text) : undefined;
  if (typeof text !== 'string' || nanos === undefined)
    throw new DecodeError(`quantities must match the regular expression '${FORM}'`);
  // What is no multiple of a whole is written in decimals, whatever its suffix was.
  const suffixes = /i$/.test(text) && nanos % NANO === 0n ? BINARY : DECIMAL;
  for (const suffix of suffixes) {
    const unit = nanosOf(`1${suffix}`);
    if (nanos !== 0n && nanos % unit === 0n) return `${nanos / unit}${suffix}`;
  }
  return '0';
}

const LAYOUT = '2006-01-02T15:04:05Z07:00';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?<fraction>\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const MICROSECONDS = 6;

/** A time in UTC: of whole seconds, or with microseconds where its type has them. */
export function timeOf(value: Json, isMicro: boolean): string {
  const fraction = typeof value === 'string' ? TIME.exec(value)?.groups : undefined;
  const at = typeof value === 'string' && fraction !== undefined ? new Date(value) : undefined;
  if (at === undefined || Number.isNaN(at.getTime())) {
    const text = JSON.stringify(value);
    throw new DecodeError(`parsing time ${text} as "${LAYOUT}": cannot parse ${text} as "2006"`);
  }
  const seconds = at.toISOString().slice(0, LAYOUT.length - 'Z07:00'.length);
  if (!isMicro) return `${seconds}Z`;
  const digits = (fraction?.fraction ?? '.').slice(1, 1 + MICROSECONDS);
  return `${seconds}.${digits.padEnd(MICROSECONDS, '0')}Z`;
}
