/** The cgroups above a node's containers (C25): that of all pods, those of the QoS classes, and one for each pod. */
import { type CgroupPlace, cgroupPath, podCgroupNames } from '../pod/cgroup.ts';
import {
  type CgroupLimits,
  type CgroupRules,
  nodeCgroupLimits,
  podCgroupLimits,
  tierCgroupLimits,
} from '../pod/cgroupLimits.ts';
import type { Capacity } from '../pod/claims.ts';
import { NodeFailure } from '../pod/failure.ts';
import type { Pod, PodSpec } from '../pod/schema/pod.ts';
import { isForbidden } from './errors.ts';
import { type Cgroup, hasCgroup, makeCgroup, raiseLimits, writeLimits } from './files.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';
import { relativePath, removeCgroupTree } from './remove.ts';
import { type CallSystemd, setSlice, startSlice, stopSlice } from './systemd.ts';

export interface PodCgroupsParts {
  readonly place: CgroupPlace;
  readonly rules: CgroupRules;
  /** What all pods together may use. */
  readonly enforced: Capacity;
  readonly hierarchies: readonly Hierarchy[];
  readonly systemd: CallSystemd;
  /** Waits so many milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told of what the host does not let be done, and goes on without. */
  readonly onTrouble: (error: unknown) => void;
}

/** What a node does with its pods' cgroups; where the host forbids it, nothing, and never a failure of a pod. */
export interface PodCgroups {
  /** Makes a pod's cgroup with its limits; one that is there stays as it is. */
  prepare(pod: Pod): Promise<void>;
  /** Lets a pod's cgroup have at least what the pod may use: before its containers grow. */
  raise(pod: Pod): Promise<void>;
  /** Lets a pod's cgroup have exactly what the pod may use: after its containers have shrunk. */
  trim(pod: Pod): Promise<void>;
  remove(pod: Pod, signal: AbortSignal): Promise<void>;
}

const TIERS = ['burstable', 'besteffort'] as const;

export function podCgroups(parts: PodCgroupsParts): PodCgroups {
  const { place, rules, enforced, hierarchies, systemd, wait } = parts;
  const version = hierarchyOf(hierarchies, 'cpu')?.version ?? 'v2';
  const isSystemd = place.cgroupDriver === 'systemd';
  /** The pods that have a cgroup, for the share of their class. */
  const present = new Map<string, PodSpec>();
  const made = new Set<string>();
  let isOff = false;
  let burstableShares = 0;

  const nameOf = (names: readonly string[]): string => cgroupPath(names, place);
  const cgroupOf = (names: readonly string[]): Cgroup => ({ hierarchies, path: relativePath(nameOf(names)) });

  /** What the host forbids is tried once. */
  const allowed = async (act: () => Promise<void>): Promise<void> => {
    if (isOff) return;
    try {
      await act();
    } catch (error) {
      if (!isForbidden(error)) throw failed(error);
      isOff = true;
      parts.onTrouble(error);
    }
  };

  const make = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    const cgroup = cgroupOf(names);
    const isThere = await hasCgroup(cgroup);
    if (isSystemd && !isThere) await startSlice(systemd, nameOf(names), limits, version);
    await makeCgroup(cgroup);
    // What runs in one that is there may use more than it is to have from now on: only `trim` takes that away.
    await (isThere ? raiseLimits : writeLimits)(cgroup, limits);
  };
  const set = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    if (isSystemd) await setSlice(systemd, nameOf(names), limits, version);
    await writeLimits(cgroupOf(names), limits);
  };
  const once = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    const name = nameOf(names);
    if (made.has(name)) return;
    await make(names, limits);
    made.add(name);
    await set(names, limits).catch(parts.onTrouble);
  };

  const shareOut = async (): Promise<void> => {
    const limits = tierCgroupLimits('burstable', present.values(), rules);
    if (limits.cpuShares === burstableShares || limits.cpuShares === undefined) return;
    burstableShares = limits.cpuShares;
    await set(['kubepods', 'burstable'], { cpuShares: limits.cpuShares });
  };

  return {
    prepare: (pod) =>
      allowed(async () => {
        await once(['kubepods'], nodeCgroupLimits(enforced));
        for (const tier of TIERS) await once(['kubepods', tier], tierCgroupLimits(tier, present.values(), rules));
        const isKnown = present.has(pod.metadata.uid);
        present.set(pod.metadata.uid, pod.spec);
        await shareOut();
        if (!isKnown) await make(podCgroupNames(pod), podCgroupLimits(pod.spec, rules));
      }),
    raise: (pod) =>
      allowed(async () => {
        present.set(pod.metadata.uid, pod.spec);
        await shareOut();
        await raiseLimits(cgroupOf(podCgroupNames(pod)), podCgroupLimits(pod.spec, rules));
      }),
    trim: (pod) => allowed(() => set(podCgroupNames(pod), podCgroupLimits(pod.spec, rules))),
    remove: async (pod, signal) => {
      // Of a pod that nobody wants any more the class is not known.
      for (const tier of [[], ...TIERS.map((each) => [each])]) {
        const path = nameOf(['kubepods', ...tier, `pod${pod.metadata.uid}`]);
        const isThere = await hasCgroup({ hierarchies, path: relativePath(path) });
        if (isSystemd && isThere) await stopSlice(systemd, path).catch(parts.onTrouble);
        await removeCgroupTree({ hierarchies, path, signal, wait });
      }
      present.delete(pod.metadata.uid);
      if (burstableShares > 0) await allowed(shareOut);
    },
  };
}

function failed(cause: unknown): NodeFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new NodeFailure('FailedCreatePodContainer', `unable to ensure pod container exists: ${message}`, { cause });
}
