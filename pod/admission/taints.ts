import type { PodSpec } from '../api/schema/pod.ts';
import type { Taint } from './node.ts';
import { compares } from './nodeAffinity.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Whether a pod tolerates every taint that ends pods; those that only keep a scheduler away are none of a node's business. */
export function toleratesNode({ tolerations = [] }: PodSpec, taints: readonly Taint[]): boolean {
  return taints.every((taint) => taint.effect !== 'NoExecute' || tolerations.some((each) => tolerates(each, taint)));
}

/** A toleration without effect or key is for every one; without an operator it is for the equal value. */
function tolerates({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  if (operator === 'Equal') return value === (taint.value ?? '');
  return compares(operator, taint.value, value);
}
