/** Formats amounts of a node's resources as quantities. */
import { formatQuantity } from '../api/values/quantity.ts';
import { resourceOf, type Signal } from './signals.ts';

const NANOS_PER_UNIT = 1_000_000_000n;

/** Formats an amount in whole units, e.g. bytes, with a binary suffix. */
export const formatBinary = (amount: number): string =>
  formatQuantity(BigInt(Math.trunc(amount)) * NANOS_PER_UNIT, 'binary');

/** Formats an amount in whole units, e.g. inodes, with a decimal suffix. */
const formatDecimal = (amount: number): string => formatQuantity(BigInt(Math.trunc(amount)) * NANOS_PER_UNIT);

/** Formats an amount of a signal's resource as a kubelet does. */
export function amountText(signal: Signal, amount: number): string {
  const resource = resourceOf(signal);
  return resource === 'memory' || resource === 'ephemeral-storage' ? formatBinary(amount) : formatDecimal(amount);
}
