/** The cgroups above a node's containers (C25): that of all pods, those of the QoS classes, and one for each pod. */

import type { Pod, PodSpec } from '../../pod/api/schema/pod.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { type CgroupPlace, cgroupPath, podCgroupNames } from '../../pod/resources/cgroup.ts';
import {
  type CgroupLimits,
  type CgroupRules,
  nodeCgroupLimits,
  podCgroupLimits,
  tierCgroupLimits,
} from '../../pod/resources/cgroupLimits.ts';
import type { Capacity } from '../../pod/resources/requests.ts';
import { isForbidden } from './errors.ts';
import {
  type Cgroup,
  hasCgroup,
  makeCgroup,
  missingControllers,
  notPassedOn,
  raiseLimits,
  writeLimits,
} from './files.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';
import { sharedCgroups } from './others.ts';
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
  /** The UIDs of the pods that are this agent's, whose cgroups a former run may have made. */
  readonly ownPods: () => Promise<readonly string[]>;
  /** Waits so many milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** When it aborts nothing is tried again. */
  readonly signal: AbortSignal;
  /** Told that the limit of all pods is in force, or each time why it is not. */
  readonly onEnforcement?: (failure?: unknown) => void;
  /** Told of what the host does not let be done, and goes on without. */
  readonly onTrouble: (error: unknown) => void;
  /** Told when pods of somebody else share the cgroups above those of pods, with what that means; undefined: no more. */
  readonly onShared?: (message: string | undefined) => void;
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

  const shared = sharedCgroups({ place, hierarchies, ownPods: parts.ownPods });
  const { mayChange } = shared;
  /** Pods whose cgroups could not have all their limits, as one above does not pass on what they need. */
  const lacking = new Map<string, Pod>();

  const make = async (names: readonly string[], limits: CgroupLimits): Promise<{ wasThere: boolean }> => {
    const cgroup = cgroupOf(names);
    const isThere = hasCgroup(cgroup);
    const wasThere = isThere && !unlimited.has(cgroup.path);
    if (!isThere && !isPodName(names)) shared.noteMade(cgroup.path);
    if (!wasThere) unlimited.add(cgroup.path);
    if (isSystemd && !wasThere) await startSlice(systemd, nameOf(names), limits, version);
    await makeCgroup(cgroup, mayChange);
    // What runs in one that is there may use more than it is to have from now on: only `trim` takes that away.
    if (mayChange(cgroup.path)) await (wasThere ? raiseLimits : writeLimits)(cgroup, limits);
    unlimited.delete(cgroup.path);
    return { wasThere };
  };
  const set = async (names: readonly string[], limits: CgroupLimits): Promise<void> => {
    if (isSystemd) await setSlice(systemd, nameOf(names), limits, version);
    await writeLimits(cgroupOf(names), limits);
  };

  const tryToSet = async (names: readonly string[], limits: CgroupLimits): Promise<boolean> => {
    // Of somebody else since it was tried last: when those are gone it is made anew.
    if (!mayChange(cgroupOf(names).path)) return true;
    return set(names, limits).then(
      () => {
        parts.onEnforcement?.();
        return true;
      },
      (error) => {
        parts.onEnforcement?.(error);
        return false;
      },
    );
  };
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
    if (!shared.isShared()) await enforce(all, nodeCgroupLimits(enforced));
    // The share of one that is there is that of its pods, which are not known yet.
    for (const tier of TIERS) await make([...all, tier], tierCgroupLimits(tier, present.values(), rules));
  };
  let above: Promise<void> | undefined;
  let burstableShares: number | undefined;

  /** As long as pods of others are there nothing that they share is changed; when they are gone, all of it is made up for. */
  const lookForOthers = inTurn(async (): Promise<void> => {
    if (!(await shared.look())) return;
    burstableShares = undefined;
    above = undefined;
    parts.onShared?.(shared.why());
    // No pod waits for it; the signal ends it.
    if (shared.isShared()) goOnLater().catch((error) => parts.signal.aborted || parts.onTrouble(error));
  });
  const goOnLater = async (): Promise<void> => {
    while (shared.isShared()) {
      await wait(ENFORCE_AGAIN_MS, parts.signal);
      if (parts.signal.aborted) return;
      await lookForOthers();
    }
    await allowed(async () => {
      await begin();
      await Promise.all([shareOut(), ...[...lacking.values()].map(makeOwn)]);
    });
  };
  /** Made once, whoever asks first; what failed is tried again by the next. */
  const begin = async (): Promise<void> => {
    await lookForOthers();
    above ??= makeAbove().catch((error) => {
      above = undefined;
      throw error;
    });
    await above;
  };

  const writeShare = async (): Promise<void> => {
    await lookForOthers();
    if (!mayChange(cgroupOf(['kubepods', 'burstable']).path)) return;
    const { cpuShares } = tierCgroupLimits('burstable', present.values(), rules);
    if (cpuShares === burstableShares || cpuShares === undefined) return;
    await set(['kubepods', 'burstable'], { cpuShares });
    burstableShares = cpuShares;
  };
  const shareOut = inTurn(writeShare);

  let warnedOf = '';
  const makeOwn = async (pod: Pod): Promise<void> => {
    const names = podCgroupNames(pod);
    const limits = podCgroupLimits(pod.spec, rules);
    await make(names, limits);
    const { uid } = pod.metadata;
    const cgroup = cgroupOf(names);
    const missing = missingControllers(cgroup, limits).join(', ');
    if (missing === '') return void lacking.delete(uid);
    lacking.set(uid, pod);
    unlimited.add(cgroup.path);
    if (missing !== warnedOf)
      parts.onTrouble(new NodeFailure('FailedCreatePodContainer', notPassedOn(nameOf(names), missing)));
    warnedOf = missing;
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
        shared.noteOwn(uid);
        await begin();
        present.set(uid, pod.spec);
        const makeOnce = async () => {
          if (prepared.has(uid)) return;
          await makeOwn(pod);
          prepared.add(uid);
        };
        await Promise.all([shareOut(), makeOnce()]);
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
      shared.forget(pod.metadata.uid);
      prepared.delete(pod.metadata.uid);
      lacking.delete(pod.metadata.uid);
      if (burstableShares !== undefined) await allowed(shareOut);
    },
  };
}

/** One after the other, so that the last word stands; who comes while one is at work shares the next. */
function inTurn(act: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const actNext = () => {
    next = undefined;
    return act();
  };
  return () => {
    next ??= last.then(actNext, actNext);
    last = next;
    return last;
  };
}

function failed(cause: unknown): NodeFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new NodeFailure('FailedCreatePodContainer', `unable to ensure pod container exists: ${message}`, { cause });
}

const isPodName = (names: readonly string[]): boolean => names.at(-1)?.startsWith('pod') === true;
