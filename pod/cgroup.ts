import { isSidecar } from './containers.ts';
import { qosClass } from './qos.ts';
import { aggregate, amountOf } from './resources.ts';
import type { Container } from './schema/container.ts';
import type { Pod, PodSpec } from './schema/pod.ts';

/** The cpu.shares of so many millicores (C25). */
export function cpuShares(milliCpu: number): number {
  return Math.min(262_144, Math.max(2, Math.trunc((milliCpu * 1024) / 1000)));
}

/** The CFS quota of so many millicores, in microseconds per period of 100 ms (C25); 0 millicores is no quota. */
export function cpuQuota(milliCpu: number): number {
  return milliCpu === 0 ? 0 : Math.max(1000, milliCpu * 100);
}

/** How soon the kernel kills a container for memory (C25): from -997 (last) to 1000 (first). */
export function oomScoreAdj(spec: PodSpec, container: Container, memoryCapacity: number): number {
  if (spec.priorityClassName === 'system-node-critical') return -997;
  const qos = qosClass(spec);
  if (qos !== 'Burstable') return qos === 'Guaranteed' ? -997 : 1000;
  const spread = unclaimedMemory(spec);
  const score = (each: Container) => {
    const memory = amountOf(each.resources, 'requests', 'memory') + spread;
    return 1000 - Math.trunc((1000 * memory) / memoryCapacity);
  };
  const sidecar = (spec.initContainers ?? []).includes(container) && isSidecar(container);
  const lowest = sidecar ? Math.min(score(container), ...spec.containers.map(score)) : score(container);
  return Math.min(999, Math.max(3, lowest));
}

/** Each container's part of the memory that the pod asks for and no container does, in bytes. */
function unclaimedMemory(spec: PodSpec): number {
  const own = amountOf(spec.resources, 'requests', 'memory');
  if (own === 0) return 0;
  const count = spec.containers.length + (spec.initContainers?.length ?? 0);
  return Math.trunc((own - aggregate(spec, 'requests', 'memory')) / count);
}

/** The cgroup of a pod (C25), as the runtime's driver names it: `kubepods/burstable/pod<uid>` or a systemd slice. */
export function podCgroup(pod: Pod, driver: 'cgroupfs' | 'systemd'): string {
  const qos = qosClass(pod.spec);
  const tier = qos === 'Guaranteed' ? [] : [qos.toLowerCase()];
  if (driver === 'cgroupfs') return ['kubepods', ...tier, `pod${pod.metadata.uid}`].join('/');
  // A dash means nesting in a slice's name, so those of the UID become underscores.
  return `${['kubepods', ...tier, `pod${pod.metadata.uid.replaceAll('-', '_')}`].join('-')}.slice`;
}
