/** The cgroups above a node's containers (C25): that of all pods, those of the QoS classes, and one for each pod. */

import { allDone } from '../../base/allDone.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { type CgroupPlace, type CgroupSetUp, podCgroupNames } from '../../kubernetes/resources/cgroup.ts';
import {
  type CgroupLimits,
  type CgroupRules,
  nodeCgroupLimits,
  podCgroupLimits,
  tierCgroupLimits,
} from '../../kubernetes/resources/cgroupLimits.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import { isForbidden } from '../files/fileErrors.ts';
import { type Cgroupfs, hostCgroupfs } from './cgroupfs.ts';
import type { Cgroups } from './cgroups.ts';
import { hasCgroup, makeCgroup, missingControllers, notPassedOn, raiseLimits, writeLimits } from './files.ts';
import { inTurn } from './inTurn.ts';
import { sharedCgroups } from './others.ts';
import { PodsTree, type PodsTreeParts } from './podsTree.ts';
import { holdsProcesses, killCgroup } from './processes.ts';
import { removeCgroupTree } from './remove.ts';

export interface PodCgroupsParts extends Omit<PodsTreeParts, 'cgroupfs'> {
  /** The host's own when absent. */
  readonly cgroupfs?: Cgroupfs;
  readonly rules: CgroupRules;
  /** What all pods together may use. */
  readonly enforced: Capacity;
  /** The UIDs of the pods that are this agent's, whose cgroups a former run may have made. */
  readonly ownPods: () => Promise<readonly string[]>;
  /** Waits so many milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told, once each, of what the host does not let be done, and goes on without. */
  readonly onWarning: (message: string) => void;
}

const ALL = ['kubepods'];
const TIERS = ['burstable', 'besteffort'] as const;

/** The cgroups of a node's pods, in whatever hierarchies the host has. */
export class PodCgroups implements Cgroups {
  readonly #parts: PodCgroupsParts & PodsTreeParts;
  readonly #tree: PodsTree;
  readonly #shared: ReturnType<typeof sharedCgroups>;
  /** The pods that have a cgroup, for the share of their class. */
  readonly #present = new Map<string, PodSpec>();
  readonly #prepared = new Set<string>();
  /** Those that were made here and have yet to get their limits. */
  readonly #unlimited = new Set<string>();
  /** Pods whose cgroups could not have all their limits, as one above does not pass on what they need; and what they lack. */
  readonly #lacking = new Map<string, { readonly pod: Pod; readonly message: string }>();
  /** What is at work on cgroups of pods now, by uid: be it that nobody waits for it any more. */
  readonly #atWork = new Map<string, Promise<unknown>>();
  /** Made once, whoever asks first; what failed is tried again by the next. */
  #above: Promise<void> | undefined;
  /** Whether the limit of all pods is in force. */
  #isEnforced = false;
  #burstableShares: number | undefined;
  #warnedOf = '';
  /** Why the host does not let any cgroup be made: nothing is tried again then. */
  #forbidden: string | undefined;

  constructor(parts: PodCgroupsParts) {
    const { cgroupfs = hostCgroupfs } = parts;
    this.#parts = { ...parts, cgroupfs };
    this.#tree = new PodsTree(this.#parts);
    this.#shared = sharedCgroups(this.#parts);
  }

  async setUp(): Promise<CgroupSetUp> {
    const { place } = this.#parts;
    await this.#unlessForbidden(async () => {
      await this.#ensureAbove();
      await this.#enforce();
      // The share of a class that is there is that of its pods, which may not be known yet.
      const share = this.#present.size > 0 ? this.#share() : Promise.resolve();
      const makeUp = Array.from(this.#lacking.values(), ({ pod }) => this.#noted(pod.metadata.uid, this.#makeOwn(pod)));
      await allDone([share, ...makeUp]);
    }).catch((cause) => {
      throw new NodeFailure('FailedNodeAllocatableEnforcement', notEnforced(place, messageOf(cause)), { cause });
    });
    if (this.#forbidden !== undefined) return { outcome: 'forbidden', warnings: [this.#forbidden] };
    const others = this.#shared.why();
    const lacking = Array.from(this.#lacking.values(), ({ message }) => message);
    if (others === undefined) return { outcome: 'enforced', warnings: lacking };
    return { outcome: 'shared', warnings: [notEnforced(place, others), ...lacking] };
  }

  prepare(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    const preparing = this.#ofPod(async () => {
      this.#shared.noteOwn(uid);
      await this.#ensureAbove();
      this.#present.set(uid, pod.spec);
      const makeOnce = async () => {
        if (this.#prepared.has(uid)) return;
        await this.#makeOwn(pod);
        this.#prepared.add(uid);
      };
      await allDone([this.#share(), makeOnce()]);
    });
    return this.#noted(uid, preparing);
  }

  raise(pod: Pod): Promise<void> {
    return this.#ofPod(async () => {
      this.#present.set(pod.metadata.uid, pod.spec);
      await this.#shareAgain();
      await raiseLimits(this.#tree.cgroupOf(podCgroupNames(pod)), podCgroupLimits(pod.spec, this.#parts.rules));
    });
  }

  trim(pod: Pod): Promise<void> {
    return this.#ofPod(() => this.#tree.set(podCgroupNames(pod), podCgroupLimits(pod.spec, this.#parts.rules)));
  }

  has(pod: Pod): boolean {
    return hasCgroup(this.#tree.cgroupOf(podCgroupNames(pod)));
  }

  async isPopulated(pod: Pod): Promise<boolean> {
    const { cgroupfs, hierarchies } = this.#parts;
    const paths = this.#namesOf(pod).map((names) => this.#tree.nameOf(names));
    return (await Promise.all(paths.map((path) => holdsProcesses({ cgroupfs, hierarchies, path })))).some(Boolean);
  }

  async mayBeShared(pod: Pod): Promise<boolean> {
    const { uid } = pod.metadata;
    const own = this.#present.has(uid) || this.#prepared.has(uid) ? 1 : 0;
    const made = this.#namesOf(pod).filter((names) => hasCgroup(this.#tree.cgroupOf(names)));
    return made.length > own || this.isPopulated(pod);
  }

  async kill(pod: Pod, signal: AbortSignal): Promise<void> {
    const { cgroupfs, hierarchies, wait } = this.#parts;
    for (const names of this.#namesOf(pod)) {
      await killCgroup({ cgroupfs, hierarchies, path: this.#tree.nameOf(names), signal, wait });
    }
  }

  async remove(pod: Pod, signal: AbortSignal): Promise<void> {
    const { cgroupfs, hierarchies, wait, onWarning } = this.#parts;
    const { uid } = pod.metadata;
    await this.#atWork.get(uid);
    this.#lacking.delete(uid);
    await this.kill(pod, signal);
    for (const names of this.#namesOf(pod)) {
      if (hasCgroup(this.#tree.cgroupOf(names))) {
        await this.#tree.stop(names).catch((error) => onWarning(messageOf(error)));
      }
      await removeCgroupTree({ cgroupfs, hierarchies, path: this.#tree.nameOf(names), signal, wait }).catch((error) => {
        // Where the host lets no cgroup be made, what is there stays; else it may be read-only only for a while.
        if (this.#forbidden === undefined || !isForbidden(error)) throw error;
      });
    }
    await this.forget(uid);
  }

  async forget(uid: string): Promise<void> {
    this.#shared.forget(uid);
    for (const known of [this.#present, this.#prepared, this.#lacking]) known.delete(uid);
    if (this.#burstableShares !== undefined) await this.#ofPod(() => this.#shareAgain());
  }

  /** What the host forbids is tried once. */
  async #unlessForbidden(act: () => Promise<void>): Promise<void> {
    if (this.#forbidden !== undefined) return;
    try {
      await act();
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const isNews = this.#forbidden === undefined;
      this.#forbidden = `pod cgroups are left to the runtime: ${messageOf(error)}`;
      if (isNews) this.#parts.onWarning(this.#forbidden);
    }
  }

  #ofPod(act: () => Promise<void>): Promise<void> {
    return this.#unlessForbidden(act).catch((cause) => {
      const message = `unable to ensure pod container exists: ${messageOf(cause)}`;
      throw new NodeFailure('FailedCreatePodContainer', message, { cause });
    });
  }

  /** What was set up for pods of this agent alone, or beside those of others, is set up again when that has changed. */
  readonly #lookForOthers = inTurn(async (): Promise<void> => {
    if (!(await this.#shared.look())) return;
    this.#burstableShares = undefined;
    this.#above = undefined;
  });

  async #ensureAbove(): Promise<void> {
    await this.#lookForOthers();
    this.#above ??= this.#makeAbove().catch((error) => {
      this.#above = undefined;
      throw error;
    });
    await this.#above;
  }

  async #makeAbove(): Promise<void> {
    const { enforced, rules } = this.#parts;
    if (!this.#shared.isShared()) {
      const { wasThere } = await this.#make(ALL, nodeCgroupLimits(enforced));
      this.#isEnforced = !wasThere;
    }
    for (const tier of TIERS) await this.#make([...ALL, tier], tierCgroupLimits(tier, this.#present.values(), rules));
  }

  /** What runs may already use more than is to be allowed: then the old limit stays until it can be set. */
  async #enforce(): Promise<void> {
    if (this.#isEnforced || this.#shared.isShared()) return;
    await this.#tree.set(ALL, nodeCgroupLimits(this.#parts.enforced));
    this.#isEnforced = true;
  }

  async #shareAgain(): Promise<void> {
    await this.#lookForOthers();
    await this.#share();
  }

  /** To be called once others were looked for. */
  readonly #share = inTurn(async (): Promise<void> => {
    const burstable = [...ALL, 'burstable'];
    if (!this.#shared.mayChange(this.#tree.cgroupOf(burstable).path)) return;
    const { cpuShares } = tierCgroupLimits('burstable', this.#present.values(), this.#parts.rules);
    if (cpuShares === this.#burstableShares || cpuShares === undefined) return;
    await this.#tree.set(burstable, { cpuShares });
    this.#burstableShares = cpuShares;
  });

  /** The removal of the pod's cgroup waits for it. */
  #noted(uid: string, work: Promise<void>): Promise<void> {
    const all = Promise.allSettled([this.#atWork.get(uid), work]).finally(() => {
      if (this.#atWork.get(uid) === all) this.#atWork.delete(uid);
    });
    this.#atWork.set(uid, all);
    return work;
  }

  async #makeOwn(pod: Pod): Promise<void> {
    const names = podCgroupNames(pod);
    const limits = podCgroupLimits(pod.spec, this.#parts.rules);
    await this.#make(names, limits);
    const cgroup = this.#tree.cgroupOf(names);
    const missing = missingControllers(cgroup, limits).join(', ');
    if (missing === '') return void this.#lacking.delete(pod.metadata.uid);
    const message = notPassedOn(this.#tree.nameOf(names), missing);
    this.#lacking.set(pod.metadata.uid, { pod, message });
    this.#unlimited.add(cgroup.path);
    if (missing !== this.#warnedOf) this.#parts.onWarning(message);
    this.#warnedOf = missing;
  }

  async #make(names: readonly string[], limits: CgroupLimits): Promise<{ wasThere: boolean }> {
    const { mayChange, noteMade } = this.#shared;
    const cgroup = this.#tree.cgroupOf(names);
    const isThere = hasCgroup(cgroup);
    const wasThere = isThere && !this.#unlimited.has(cgroup.path);
    if (!isThere && !isPodName(names)) noteMade(cgroup.path);
    if (!wasThere) {
      this.#unlimited.add(cgroup.path);
      await this.#tree.start(names, limits);
    }
    await makeCgroup(cgroup, mayChange);
    // What runs in one that is there may use more than it is to have from now on: only `trim` takes that away.
    if (mayChange(cgroup.path)) await (wasThere ? raiseLimits : writeLimits)(cgroup, limits);
    this.#unlimited.delete(cgroup.path);
    return { wasThere };
  }

  /**
   * The cgroup that was made here, and any that was made for a version of the pod of another class, be it by an earlier
   * agent; of a pod that nobody wants any more the class is not known.
   */
  #namesOf(pod: Pod): (readonly string[])[] {
    const own = `pod${pod.metadata.uid}`;
    const all = [[...ALL, own], ...TIERS.map((tier) => [...ALL, tier, own])];
    if (!this.#prepared.has(pod.metadata.uid)) return all;
    const present = podCgroupNames(pod).join('/');
    return all.filter((names) => names.join('/') === present || hasCgroup(this.#tree.cgroupOf(names)));
  }
}

/** The kubelet's words for a limit of all pods that is not in force. */
function notEnforced({ cgroupRoot }: CgroupPlace, why: string): string {
  const names = [...cgroupRoot.split('/').filter(Boolean), ...ALL].map((name) => JSON.stringify(name)).join(' ');
  return `Failed to update Node Allocatable Limits [${names}]: ${why}`;
}

const isPodName = (names: readonly string[]): boolean => names.at(-1)?.startsWith('pod') === true;
