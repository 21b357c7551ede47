import type { PodSpec } from '../api/schema/pod.ts';
import type { Taint } from './node.ts';
import { compares } from './nodeAffinity.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Returns the first NoExecute taint that the pod does not tolerate. Taints of other effects only concern schedulers. */
export const untoleratedTaint = ({ tolerations = [] }: PodSpec, taints: readonly Taint[]): Taint | undefined =>
  taints.find((taint) => taint.effect === 'NoExecute' && !tolerations.some((each) => tolerates(each, taint)));

/** A toleration without effect or key is for every one; without an operator it is for the equal value. */
function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (operator === 'Equal') return value === (taint.value ?? '');
  return compares(operator, taint.value, value);
}
