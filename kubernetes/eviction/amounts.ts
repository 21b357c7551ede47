/** Formats amounts of a node's resources as quantities. */
import { formatQuantity } from '../api/values/quantity.ts';
import { resourceOf, type Signal } from './signals.ts';

const NANOS_PER_UNIT = 1_000_000_000n;

/** Formats an amount in whole units, e.g. bytes, with a binary suffix. */
export const formatBinary = (amount: number): string =>
  formatQuantity(BigInt(Math.trunc(amount)) * NANOS_PER_UNIT, 'binary');

/** Formats an amount in whole units, e.g. inodes, with a decimal suffix. */
const formatDecimal = (amount: number): string => formatQuantity(BigInt(Math.trunc(amount)) * NANOS_PER_UNIT);

/** Formats an amount of a signal's resource as the kubelet does. */
export const amountText = (signal: Signal, amount: number): string =>
  isInBytes(signal) ? formatBinary(amount) : formatDecimal(amount);

const isInBytes = (signal: Signal): boolean => ['memory', 'ephemeral-storage'].includes(resourceOf(signal));

/** Minimum value of a rounded amount in its unit, so that at least three significant digits remain. */
const MIN_IN_UNIT = 100;
const BYTE_UNITS = [2 ** 40, 2 ** 30, 2 ** 20, 2 ** 10];

/** Formats bytes for explanations, rounded to at least three significant digits, e.g. 27055317804 as `25802Mi`. */
export function roundedBytes(bytes: number): string {
  const unit = BYTE_UNITS.find((each) => bytes >= MIN_IN_UNIT * each) ?? 1;
  return formatBinary(Math.round(bytes / unit) * unit);
}

/** Formats an amount of a signal's resource for explanations. Rounds an amount in bytes. */
export const roundedAmountText = (signal: Signal, amount: number): string =>
  isInBytes(signal) ? roundedBytes(amount) : formatDecimal(amount);
