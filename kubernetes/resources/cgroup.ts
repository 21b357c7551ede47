import { isSidecar } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { qosClass } from './qos.ts';
import { aggregateAmount, amountOf } from './resources.ts';

/** Converts millicores to cpu.shares (C25). */
export function cpuShares(milliCpu: number): number {
  return Math.min(262_144, Math.max(2, Math.trunc((milliCpu * 1024) / 1000)));
}

/**
 * Converts millicores to a CFS quota in microseconds per period (C25). The default period is 100 ms. 0 means no quota.
 */
export function cpuQuota(milliCpu: number, period = 100_000): number {
  return milliCpu === 0 ? 0 : Math.max(1000, Math.trunc((milliCpu * period) / 1000));
}

/** Returns the OOM score adjustment of a container (C25), from -997 (killed last) to 1000 (killed first). */
export function oomScoreAdj(spec: PodSpec, container: Container, memoryCapacity: number): number {
  if (spec.priorityClassName === 'system-node-critical') return -997;
  const qos = qosClass(spec);
  if (qos !== 'Burstable') return qos === 'Guaranteed' ? -997 : 1000;
  const extraMemory = unclaimedMemoryShare(spec);
  const scoreOf = (each: Container) => {
    const memory = amountOf(each.resources, 'requests', 'memory') + extraMemory;
    return 1000 - Math.trunc((1000 * memory) / memoryCapacity);
  };
  const isPodSidecar = (spec.initContainers ?? []).includes(container) && isSidecar(container);
  const minScore = isPodSidecar ? Math.min(scoreOf(container), ...spec.containers.map(scoreOf)) : scoreOf(container);
  return Math.min(999, Math.max(3, minScore));
}

/**
 * Returns the equal share of one container, in bytes, in the memory that the pod requests beyond the requests of its
 * containers.
 */
function unclaimedMemoryShare(spec: PodSpec): number {
  const podMemory = amountOf(spec.resources, 'requests', 'memory');
  if (podMemory === 0) return 0;
  const count = spec.containers.length + (spec.initContainers?.length ?? 0);
  return Math.trunc((podMemory - aggregateAmount(spec, 'requests', 'memory')) / count);
}

/** Location of the pods' cgroup tree, and the cgroup driver that creates cgroups in it. */
export interface CgroupLocation {
  /** Parent cgroup of the pods' tree, e.g. `/statelet`. Empty for the root cgroup. */
  readonly cgroupRoot: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
}

/**
 * Result of creating the parent cgroups of pods. `enforced` means that the common limit for all pods is in force.
 * `shared` means that the cgroups remain unchanged because pods of another agent use them too. `forbidden` means that
 * the host does not permit the agent to create them. `unused` means that the agent leaves all cgroups to the runtime.
 */
export interface CgroupSetup {
  readonly outcome: 'enforced' | 'shared' | 'forbidden' | 'unused';
  /** Warnings, one sentence each. If the cgroups are shared, the first warning explains why. */
  readonly warnings: readonly string[];
}

/**
 * Returns the names of the cgroups on the path from the root of the pods' tree to a pod (C25). These are `kubepods`,
 * the QoS class (omitted for Guaranteed), and the pod's own name.
 */
export function podCgroupNames(pod: Pod): string[] {
  const qos = qosClass(pod.spec);
  const qosClassNames = qos === 'Guaranteed' ? [] : [qos.toLowerCase()];
  return ['kubepods', ...qosClassNames, `pod${pod.metadata.uid}`];
}

/**
 * Returns the path of a cgroup in the form that the runtime expects, which is an absolute path or, with the systemd
 * driver, the name of a slice.
 */
export function cgroupPath(names: readonly string[], { cgroupRoot, cgroupDriver }: CgroupLocation): string {
  const parents = cgroupRoot.split('/').filter((part) => part !== '');
  if (cgroupDriver === 'cgroupfs') return `/${[...parents, ...names].join('/')}`;
  // Replace the dashes of UIDs with underscores, because a dash separates levels in the name of a slice.
  const escapedNames = names.map((name) => name.replaceAll('-', '_'));
  return names.length + parents.length === 0
    ? ''
    : `${[...parentSliceParts(parents), ...escapedNames].join('-')}.slice`;
}

/**
 * Returns the name components that a slice inherits from its parents. If the last parent is already a slice, uses only
 * its name, which already contains the components of its own parents.
 */
function parentSliceParts(parents: readonly string[]): string[] {
  const lastParent = parents.at(-1) ?? '';
  return lastParent.endsWith('.slice')
    ? [lastParent.slice(0, -'.slice'.length)]
    : parents.map((part) => part.replaceAll('-', '_'));
}
