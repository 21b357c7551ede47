import { isSidecar } from '../api/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { qosClass } from './qos.ts';
import { aggregate, amountOf } from './resources.ts';

/** The cpu.shares of so many millicores (C25). */
export function cpuShares(milliCpu: number): number {
  return Math.min(262_144, Math.max(2, Math.trunc((milliCpu * 1024) / 1000)));
}

/** The CFS quota of so many millicores, in microseconds per period of 100 ms (C25); 0 millicores is no quota. */
export function cpuQuota(milliCpu: number, period = 100_000): number {
  return milliCpu === 0 ? 0 : Math.max(1000, Math.trunc((milliCpu * period) / 1000));
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

/** Where the node's tree of cgroups is, and who makes cgroups there. */
export interface CgroupPlace {
  /** The cgroup that the pods' tree is in, such as `/statelet`; empty for the root. */
  readonly cgroupRoot: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
}

/**
 * What has come of setting up the cgroups above those of pods: the limit of all pods is in force; pods of somebody else
 * share them, and what these share stays as it is; the host forbids it; or the runtime alone makes cgroups (`unused`).
 */
export interface CgroupSetUp {
  readonly outcome: 'enforced' | 'shared' | 'forbidden' | 'unused';
  /** A sentence for each thing that is not as it should be; of cgroups that are shared the first says why. */
  readonly warnings: readonly string[];
}

/** The names in the pods' tree that lead to a pod (C25): `kubepods`, its QoS class unless that is Guaranteed, its own. */
export function podCgroupNames(pod: Pod): string[] {
  const qos = qosClass(pod.spec);
  const tier = qos === 'Guaranteed' ? [] : [qos.toLowerCase()];
  return ['kubepods', ...tier, `pod${pod.metadata.uid}`];
}

/** A cgroup in the pods' tree as the runtime is told it: an absolute path or, under systemd, the name of a slice. */
export function cgroupPath(names: readonly string[], { cgroupRoot, cgroupDriver }: CgroupPlace): string {
  const above = cgroupRoot.split('/').filter((part) => part !== '');
  if (cgroupDriver === 'cgroupfs') return `/${[...above, ...names].join('/')}`;
  // A dash means nesting in a slice's name, so those of a UID become underscores.
  const own = names.map((name) => name.replaceAll('-', '_'));
  return names.length + above.length === 0 ? '' : `${[...slices(above), ...own].join('-')}.slice`;
}

/** A slice's name carries the slices that it lies in; of one that is named already the last says it all. */
function slices(above: readonly string[]): string[] {
  const last = above.at(-1) ?? '';
  return last.endsWith('.slice') ? [last.slice(0, -'.slice'.length)] : above.map((part) => part.replaceAll('-', '_'));
}
