import type { Problem } from '../problem.ts';
import type { PodSpec } from '../schema/pod.ts';
import { forbidden } from './words.ts';

/** A pod with gates is not scheduled yet, so it has no node (`ValidatePodCreate` in `pkg/apis/core/validation`). */
export function validateSchedulingGates({ nodeName, schedulingGates = [] }: PodSpec): Problem[] {
  if (!nodeName || schedulingGates.length === 0) return [];
  return [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')];
}
