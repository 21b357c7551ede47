import type { Problem } from '../problem.ts';
import type { PodSpec } from '../schema/pod.ts';
import { forbidden } from './words.ts';

/**
 * Warns about the fields of a static pod that only a scheduler acts on. No scheduler places a static pod, so a kubelet
 * ignores them without a word.
 */
export function schedulerWarnings({ affinity = {}, topologySpreadConstraints, schedulingGroup }: PodSpec): Problem[] {
  const { podAffinity, podAntiAffinity, nodeAffinity } = affinity;
  const fields = [
    { path: 'spec.affinity.podAffinity', value: podAffinity },
    { path: 'spec.affinity.podAntiAffinity', value: podAntiAffinity },
    {
      path: 'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution',
      value: nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    },
    { path: 'spec.topologySpreadConstraints', value: topologySpreadConstraints },
    { path: 'spec.schedulingGroup', value: schedulingGroup },
  ];
  const message = 'has no effect on a static pod, because no scheduler places it';
  return fields.filter(({ value }) => value !== undefined).map(({ path }) => ({ path, message }));
}

/** A pod with gates is not scheduled yet, so it has no node (`ValidatePodCreate` in `pkg/apis/core/validation`). */
export function validateSchedulingGates({ nodeName, schedulingGates = [] }: PodSpec): Problem[] {
  if (!nodeName || schedulingGates.length === 0) return [];
  return [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')];
}
