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
import { killCgroup } from './processes.ts';
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
  /** When it aborts nothing is tried again. */
  readonly signal: AbortSignal;
  /** Told that the limit of all pods is in force, or each time why it is not. */
  readonly onEnforcement?: (failure?: unknown) => void;
  /** Told of what the host does not let be done, and goes on without. */
  readonly onTrouble: (error: unknown) => void;
}

/** What a node does with its pods' cgroups; where the host forbids it, nothing, and never a failure of a pod. */
export interface PodCgroups {
  /** Makes what is above the pods' cgroups, so that the first pod need not wait for it. */
  begin(): Promise<void>;
  /** Makes a pod's cgroup with its limits; one that is there stays as it is. */
  prepare(pod: Pod): Promise<void>;
  /** Lets a pod's cgroup have at least what the pod may use: before its containers grow. */
  raise(pod: Pod): Promise<void>;
  /** Lets a pod's cgroup have exactly what the pod may use: after its containers have shrunk. */
  trim(pod: Pod): Promise<void>;
  /** Whether anybody has made it. */
  has(pod: Pod): boolean;
  /** Kills what is left in it, whatever the runtime knows of that. */
  kill(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Kills what is left in it, and removes it: from then on the pod does not count in its class. */
  remove(pod: Pod, signal: AbortSignal): Promise<void>;
}

/** As a kubelet: until then what runs may have come to use less. */
const ENFORCE_AGAIN_MS = 60_000;
const TIERS = ['burstable', 'besteffort'] as const;

export function podCgroups(parts: PodCgroupsParts): PodCgroups {
  const { place, rules, enforced, hierarchies, systemd, wait } = parts;
  const version = hierarchyOf(hierarchies, 'cpu')?.version ?? 'v2';
  const isSystemd = place.cgroupDriver === 'systemd';
  /** The pods that have a cgroup, for the share of their class. */
  const present = new Map<string, PodSpec>();
  const prepared = new Set<string>();
  /** Those that were made here and have yet to get their limits. */
  const unlimited = new Set<string>();
  let isOff = false;

  const nameOf = (names: readonly string[]): string => cgroupPath(names, place);
  const cgroupOf = (names: readonly string[]): Cgroup => ({ hierarchies, path: relativePath(nameOf(names)) });

  /** What the host forbids is tried once. */
  const allowed = async (act: () => Promise<void>): Promise<void> => {
    if (isOff) return;
    try {
      await act();
    } catch (error) {
      if (!isForbidden(error)) throw failed(error);
      if (!isOff) parts.onTrouble(error);
      isOff = true;
    }
  };

  const make = async (names: readonly string[], limits: CgroupLimits): Promise<{ wasThere: boolean }> => {
    const cgroup = cgroupOf(names);
    const wasThere = hasCgroup(cgroup) && !unlimited.has(cgroup.path);
    if (!wasThere) unlimited.add(cgroup.path);
    if (isSystemd && !wasThere) await startSlice(systemd, nameOf(names), limits, version);
    await makeCgroup(cgroup);
    // What runs in one that is there may use more than it is to have from now on: only `trim` takes that away.
    await (wasThere ? raiseLimits : writeLimits)(cgroup, limits);
    unlimited.delete(cgroup.path);
    return { wasThere };
  };
  const set = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    if (isSystemd) await setSlice(systemd, nameOf(names), limits, version);
    await writeLimits(cgroupOf(names), limits);
  };

  const tryToSet = (names: readonly string[], limits: CgroupLimits): Promise<boolean> =>
    set(names, limits).then(
      () => {
        parts.onEnforcement?.();
        return true;
      },
      (error) => {
        parts.onEnforcement?.(error);
        return false;
      },
    );
  const enforceLater = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    do await wait(ENFORCE_AGAIN_MS, parts.signal);
    while (!parts.signal.aborted && !(await tryToSet(names, limits)));
  };
  let isTriedAgain = false;

  /** What runs may already use more than is to be allowed: then the old limit stays until it can be set. */
  const enforce = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    const { wasThere } = await make(names, limits).catch((error) => {
      parts.onEnforcement?.(error);
      throw error;
    });
    if (!wasThere) return parts.onEnforcement?.();
    if (isTriedAgain || (await tryToSet(names, limits))) return;
    isTriedAgain = true;
    // No pod waits for it; the signal ends it.
    enforceLater(names, limits)
      .catch((error) => parts.signal.aborted || parts.onTrouble(error))
      .finally(() => {
        isTriedAgain = false;
      });
  };

  const makeAbove = async (): Promise<void> => {
    const all = ['kubepods'];
    const whole = nodeCgroupLimits(enforced);
    await enforce(all, whole);
    // The share of one that is there is that of its pods, which are not known yet.
    for (const tier of TIERS) await make([...all, tier], tierCgroupLimits(tier, present.values(), rules));
  };
  let above: Promise<void> | undefined;
  /** Made once, whoever asks first; what failed is tried again by the next. */
  const begin = (): Promise<void> => {
    above ??= makeAbove().catch((error) => {
      above = undefined;
      throw error;
    });
    return above;
  };

  let burstableShares: number | undefined;
  const writeShare = async (): Promise<void> => {
    const { cpuShares } = tierCgroupLimits('burstable', present.values(), rules);
    if (cpuShares === burstableShares || cpuShares === undefined) return;
    await set(['kubepods', 'burstable'], { cpuShares });
    burstableShares = cpuShares;
  };
  let lastShare: Promise<void> = Promise.resolve();
  let nextShare: Promise<void> | undefined;
  /** One after the other, so that the last word stands; pods that come while one is written share the next. */
  const shareOut = (): Promise<void> => {
    const write = () => {
      nextShare = undefined;
      return writeShare();
    };
    nextShare ??= lastShare.then(write, write);
    lastShare = nextShare;
    return lastShare;
  };

  /** The cgroup that was made here; of a pod that nobody wants any more the class is not known. */
  const namesOf = (pod: Pod): (readonly string[])[] => {
    if (prepared.has(pod.metadata.uid)) return [podCgroupNames(pod)];
    const own = `pod${pod.metadata.uid}`;
    return [['kubepods', own], ...TIERS.map((tier) => ['kubepods', tier, own])];
  };
  const kill = async (pod: Pod, signal: AbortSignal): Promise<void> => {
    for (const names of namesOf(pod)) await killCgroup({ hierarchies, path: nameOf(names), signal, wait });
  };

  return {
    begin: () => allowed(begin),
    prepare: (pod) =>
      allowed(async () => {
        const { uid } = pod.metadata;
        await begin();
        present.set(uid, pod.spec);
        const makeOwn = async () => {
          if (prepared.has(uid)) return;
          await make(podCgroupNames(pod), podCgroupLimits(pod.spec, rules));
          prepared.add(uid);
        };
        await Promise.all([shareOut(), makeOwn()]);
      }),
    raise: (pod) =>
      allowed(async () => {
        present.set(pod.metadata.uid, pod.spec);
        await shareOut();
        await raiseLimits(cgroupOf(podCgroupNames(pod)), podCgroupLimits(pod.spec, rules));
      }),
    trim: (pod) => allowed(() => set(podCgroupNames(pod), podCgroupLimits(pod.spec, rules))),
    has: (pod) => hasCgroup(cgroupOf(podCgroupNames(pod))),
    kill,
    remove: async (pod, signal) => {
      await kill(pod, signal);
      for (const names of namesOf(pod)) {
        const path = nameOf(names);
        const isThere = hasCgroup({ hierarchies, path: relativePath(path) });
        if (isSystemd && isThere) await stopSlice(systemd, path).catch(parts.onTrouble);
        await removeCgroupTree({ hierarchies, path, signal, wait });
      }
      present.delete(pod.metadata.uid);
      prepared.delete(pod.metadata.uid);
      if (burstableShares !== undefined) await allowed(shareOut);
    },
  };
}

function failed(cause: unknown): NodeFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new NodeFailure('FailedCreatePodContainer', `unable to ensure pod container exists: ${message}`, { cause });
}
