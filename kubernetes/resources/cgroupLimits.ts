/** What the cgroups above containers may use: a pod's, those of the QoS classes, and that of all pods (C25). */

import { lookUp } from '../../base/lookUp.ts';
import { containersOf } from '../api/containers.ts';
import { wholeValue } from '../api/quantity.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { cpuQuota, cpuShares } from './cgroup.ts';
import { qosClass } from './qos.ts';
import type { Capacity } from './requests.ts';
import { podLimit, podRequest } from './resources.ts';

/** The limits of one cgroup; what is absent is left as it is. */
export interface CgroupLimits {
  readonly cpuShares?: number;
  /** Microseconds of each period; a quota of -1 is none. */
  readonly cpu?: { readonly quota: number; readonly period: number };
  readonly memoryBytes?: number;
  readonly pids?: number;
  /** Bytes by the kernel's name of the page size, such as `2MB`. */
  readonly hugepages?: Readonly<Record<string, number>>;
}

/** What the node's configuration and kernel say of all cgroups. */
export interface CgroupRules {
  /** Whether limits of cpu are enforced. */
  readonly cfsQuota: boolean;
  /** Microseconds. */
  readonly cfsPeriod: number;
  /** How many processes a pod may have; none below 1. */
  readonly podPids: number;
  /** The sizes of huge pages that the kernel has, by its names. */
  readonly pageSizes: readonly string[];
}

/** More than any node has. */
const UNBOUNDED = 2 ** 62;

/** What a pod may use in all. A limit of cpu or memory is the pod's only when every container of it has one. */
export function podCgroupLimits(spec: PodSpec, rules: CgroupRules): CgroupLimits {
  const [cpu, memoryBytes] = [podLimit(spec, 'cpu'), podLimit(spec, 'memory')];
  const isBestEffort = qosClass(spec) === 'BestEffort';
  return {
    cpuShares: cpuShares(isBestEffort ? 0 : podRequest(spec, 'cpu')),
    ...(cpu === undefined || isBestEffort ? {} : { cpu: quotaOf(cpu, rules) }),
    ...(memoryBytes === undefined || isBestEffort ? {} : { memoryBytes }),
    ...(rules.podPids > 0 ? { pids: rules.podPids } : {}),
    ...pages(rules, hugepageLimits(spec)),
  };
}

function quotaOf(milliCpu: number, { cfsQuota, cfsPeriod: period }: CgroupRules): { quota: number; period: number } {
  return { quota: cfsQuota ? cpuQuota(milliCpu, period) : -1, period };
}

/** Every size of huge pages that is not given is given none. */
function pages({ pageSizes }: CgroupRules, given: Readonly<Record<string, number>>): Pick<CgroupLimits, 'hugepages'> {
  if (pageSizes.length === 0) return {};
  return { hugepages: Object.fromEntries(pageSizes.map((size) => [size, lookUp(given, size) ?? 0])) };
}

/** Bytes by size of page: the pod's own, or those of its containers together. */
function hugepageLimits(spec: PodSpec): Record<string, number> {
  const own = hugepages(spec.resources?.limits ?? {});
  if (Object.keys(own).length > 0) return own;
  const sum = new Map<string, number>();
  for (const { container, role } of containersOf(spec)) {
    if (role === 'ephemeral') continue;
    for (const [size, bytes] of Object.entries(hugepages(container.resources?.limits ?? {}))) {
      sum.set(size, (sum.get(size) ?? 0) + bytes);
    }
  }
  return Object.fromEntries(sum);
}

/** The huge pages in a list of limits: `hugepages-2Mi` are what the kernel calls 2MB. */
export function hugepages(limits: ResourceList): Record<string, number> {
  const entries = Object.entries(limits).flatMap(([resource, amount]) => {
    const [, size] = /^hugepages-(.+)$/.exec(resource) ?? [];
    return size === undefined ? [] : [[pageName(wholeValue(size)), wholeValue(amount)] as const];
  });
  return Object.fromEntries(entries);
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** The name that the kernel gives to huge pages of so many bytes. */
export function pageName(bytes: number): string {
  if (bytes >= GIB) return `${bytes / GIB}GB`;
  return bytes >= MIB ? `${bytes / MIB}MB` : `${bytes / 1024}KB`;
}

/** A QoS class: best-effort pods get cpu when nobody else wants it, burstable ones in the measure of their requests. */
export function tierCgroupLimits(
  tier: 'burstable' | 'besteffort',
  pods: Iterable<PodSpec>,
  { pageSizes }: CgroupRules,
): CgroupLimits {
  let milliCpu = 0;
  for (const spec of pods) if (qosClass(spec) === 'Burstable') milliCpu += podRequest(spec, 'cpu');
  return {
    cpuShares: cpuShares(tier === 'burstable' ? milliCpu : 0),
    ...(pageSizes.length > 0 ? { hugepages: Object.fromEntries(pageSizes.map((size) => [size, UNBOUNDED])) } : {}),
  };
}

/** The processes that a node has room for, as a kubelet names them among its resources. */
export const PIDS = 'pid';

/** All pods of the node together. */
export function nodeCgroupLimits({ cpuMillis, memoryBytes, extra }: Capacity): CgroupLimits {
  const pids = extra?.[PIDS];
  return { cpuShares: cpuShares(cpuMillis), memoryBytes, ...(pids === undefined ? {} : { pids }) };
}
