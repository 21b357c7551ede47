/** Validates faults, because programs that are not type-checked may return anything. */

import { printableText } from '../../../base/text/printable.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { formatValue } from '../../../kubernetes/api/problem.ts';
import type { CallFault } from '../run/gate.ts';
import { ALL_CODES } from './failures.ts';

const DEATH_TIMES: ReadonlySet<unknown> = new Set(['before', 'during', 'after']);
const isCode = ({ code }: { readonly code?: string }): boolean => code === undefined || ALL_CODES.includes(code);

const isValid: { readonly [K in CallFault['kind']]: (fault: CallFault & { readonly kind: K }) => boolean } = {
  fail: isCode,
  lostReply: isCode,
  hang: () => true,
  late: ({ ms }) => Number.isFinite(ms) && ms >= 0,
  death: ({ when }) => DEATH_TIMES.has(when),
};

/** Throws a `TypeError` that shows an invalid fault. `place` is the path of the fault in a larger value. */
export function checkCallFault(fault: CallFault | null | undefined, place = ''): void {
  // The rule of a kind accepts the faults of that kind.
  const rule = fault && (lookUp(isValid, fault.kind) as ((fault: CallFault) => boolean) | undefined);
  if (!fault || !rule?.(fault))
    throw new TypeError(printableText(`${place}there is no such fault: ${formatValue(fault)}`));
}
