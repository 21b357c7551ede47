import type { PodSpec } from '../api/schema/pod.ts';
import type { Taint } from './node.ts';
import { isBeyondBound } from './nodeAffinity.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/**
 * Returns the first NoExecute taint that the pod does not tolerate. Taints with other effects matter only to
 * schedulers.
 */
export const untoleratedTaint = ({ tolerations = [] }: PodSpec, taints: readonly Taint[]): Taint | undefined =>
  taints.find((taint) => taint.effect === 'NoExecute' && !tolerations.some((each) => tolerates(each, taint)));

/**
 * Whether a toleration matches a taint. A toleration without an effect or key matches any effect or key, and the
 * default operator is Equal.
 */
export function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (operator === 'Equal') return value === (taint.value ?? '');
  return isBeyondBound(operator, taint.value, value);
}
