/** Validates fates, because programs that are not type-checked may return anything. */

import { lookUp } from '../../../base/lookUp.ts';
import { printable } from '../../../base/printable.ts';
import { formatValue } from '../../../kubernetes/api/problem.ts';
import type { Fate } from '../run/outside.ts';
import { ALL_CODES } from './failures.ts';

const MOMENTS: ReadonlySet<unknown> = new Set(['before', 'during', 'after']);
const isCode = ({ code }: { readonly code?: string }): boolean => code === undefined || ALL_CODES.includes(code);

const isWhole: { readonly [K in Fate['kind']]: (fate: Fate & { readonly kind: K }) => boolean } = {
  fail: isCode,
  lostReply: isCode,
  hang: () => true,
  late: ({ ms }) => Number.isFinite(ms) && ms >= 0,
  death: ({ when }) => MOMENTS.has(when),
};

/** Throws a `TypeError` that shows an invalid fate. `place` is the path of the fate in a larger value. */
export function checkFate(fate: Fate | null | undefined, place = ''): void {
  // The rule of a kind accepts the fates of that kind.
  const rule = fate && (lookUp(isWhole, fate.kind) as ((fate: Fate) => boolean) | undefined);
  if (!fate || !rule?.(fate)) throw new TypeError(printable(`${place}there is no such fate: ${formatValue(fate)}`));
}
