import { containersOf } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import { qosClass } from '../resources/qos.ts';
import { type CpuAssignments, exclusiveCpuCount, findAssignment } from './cpuPolicy.ts';
import { formatCpuSet } from './cpuSet.ts';

/**
 * Explains which CPUs each container uses and why, e.g. `exclusive CPUs 1,5 (Guaranteed, requests 2 whole CPUs)`. The
 * result is keyed by container name.
 */
export function explainCpus(assignments: CpuAssignments, pod: Pod): ReadonlyMap<string, string> {
  return new Map(
    containersOf(pod.spec).map(({ container }) => {
      const assignment = findAssignment(assignments, pod.metadata.uid, container.name);
      const kind = assignment === undefined ? 'shared' : 'exclusive';
      const cpus = formatCpuSet(assignment?.cpus ?? assignments.shared);
      return [container.name, `${kind} CPUs ${cpus} (${reasonFor(pod, container)})`];
    }),
  );
}

function reasonFor({ spec }: Pod, container: Container): string {
  const qos = qosClass(spec);
  if (qos !== 'Guaranteed') return qos;
  const count = exclusiveCpuCount(spec, container);
  if (count > 0) return `Guaranteed, requests ${count} whole ${count === 1 ? 'CPU' : 'CPUs'}`;
  return spec.resources === undefined ? 'requests no whole CPUs' : 'its pod has resources of its own';
}
