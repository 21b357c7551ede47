/**
 * Manages the cgroups above the container cgroups (C25): the parent of all pods, one per QoS class, and one per pod.
 */

import { settleAll } from '../../base/async/settleAll.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { type CgroupLocation, type CgroupSetup, podCgroupNames } from '../../kubernetes/resources/cgroup.ts';
import {
  type CgroupLimits,
  type CgroupRules,
  nodeCgroupLimits,
  podCgroupLimits,
  qosCgroupLimits,
} from '../../kubernetes/resources/cgroupLimits.ts';
import { allPodsMemoryProtection } from '../../kubernetes/resources/memoryQos.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { ResizableResource } from '../../kubernetes/resources/resize.ts';
import { isForbidden } from '../files/fileErrors.ts';
import { type Cgroupfs, hostCgroupfs } from './cgroupfs.ts';
import type { Cgroups } from './cgroups.ts';
import {
  createCgroup,
  describeMissingControllers,
  findMissingControllers,
  hasCgroup,
  hasLimits,
  raiseLimits,
  writeLimits,
} from './files.ts';
import { PodsTree, type PodsTreeParts } from './podsTree.ts';
import { hasProcesses, killCgroup } from './processes.ts';
import { removeCgroupTree } from './remove.ts';
import { sharedCgroups } from './sharedCgroups.ts';

export interface PodCgroupsParts extends Omit<PodsTreeParts, 'cgroupfs'> {
  /** The cgroup file system. Defaults to the host's. */
  readonly cgroupfs?: Cgroupfs;
  readonly rules: CgroupRules;
  /** Resources that all pods together may use. */
  readonly enforcedLimits: Capacity;
  /** Returns the UIDs of this agent's pods, whose cgroups an earlier run may have created. */
  readonly listOwnPods: () => Promise<readonly string[]>;
  /** Waits for the given number of milliseconds. Rejects if the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called once for each operation that the host forbids. The agent continues without it. */
  readonly onWarning: (message: string) => void;
}

const ALL_PODS_CGROUP = ['kubepods'];
const BURSTABLE_CGROUP = [...ALL_PODS_CGROUP, 'burstable'];
const QOS_CLASSES = ['burstable', 'besteffort'] as const;

/**
 * The last written values of those limits of shared cgroups that depend on the current pods. A field is undefined if
 * its limits must be written again.
 */
interface SharedLimits {
  allPods?: CgroupLimits;
  burstable?: CgroupLimits;
}

export class PodCgroups implements Cgroups {
  readonly #parts: PodCgroupsParts & PodsTreeParts;
  readonly #tree: PodsTree;
  readonly #sharedCgroups: ReturnType<typeof sharedCgroups>;
  /** Specs of the pods with a cgroup, from which the limits of the QoS classes are computed. */
  readonly #podSpecs = new Map<string, PodSpec>();
  readonly #preparedUids = new Set<string>();
  /** Paths of the cgroups that this agent has created but that do not have their limits yet. */
  readonly #pathsWithoutLimits = new Set<string>();
  /**
   * Pods for which some limits are missing because a parent cgroup does not provide the required controllers, each with
   * the warning about the missing limits.
   */
  readonly #podsWithMissingLimits = new Map<string, { readonly pod: Pod; readonly message: string }>();
  /** Operations in progress on pod cgroups, by UID, including those that callers no longer await. */
  readonly #pendingByUid = new Map<string, Promise<unknown>>();
  /** Setup of the parent cgroups, shared by all callers. After a failure, the next caller retries it. */
  #parentSetup: Promise<void> | undefined;
  /** Whether the limit on the total usage of all pods is enforced. */
  #isEnforced = false;
  #writtenLimits: SharedLimits = {};
  #lastWarnedControllers = '';
  /** Reason why the host forbids creating cgroups. Once it is set, no operation is retried. */
  #forbiddenMessage: string | undefined;

  constructor(parts: PodCgroupsParts) {
    const { cgroupfs = hostCgroupfs } = parts;
    this.#parts = { ...parts, cgroupfs };
    this.#tree = new PodsTree(this.#parts);
    this.#sharedCgroups = sharedCgroups(this.#parts);
  }

  async setUp(): Promise<CgroupSetup> {
    const { parentCgroup } = this.#parts;
    await this.#runUnlessForbidden(async () => {
      await this.#ensureParents();
      await this.#enforceAllPodsLimit();
      // Do not change the limits of the burstable class before a pod is recorded, because the current values may
      // account for pods of an earlier run that are recorded later.
      const updateLimits = this.#podSpecs.size > 0 ? this.#updateSharedLimits() : Promise.resolve();
      const retriedPods = Array.from(this.#podsWithMissingLimits.values(), ({ pod }) =>
        this.#trackOperation(pod.metadata.uid, this.#createPodCgroup(pod)),
      );
      await settleAll([updateLimits, ...retriedPods]);
      await this.#restoreSharedLimits();
    }).catch((cause) => {
      throw new NodeFailure('FailedNodeAllocatableEnforcement', describeNotEnforced(parentCgroup, messageOf(cause)), {
        cause,
      });
    });
    if (this.#forbiddenMessage !== undefined) return { outcome: 'forbidden', warnings: [this.#forbiddenMessage] };
    const sharedMessage = this.#sharedCgroups.sharedMessage();
    const missingLimits = Array.from(this.#podsWithMissingLimits.values(), ({ message }) => message);
    if (sharedMessage === undefined) return { outcome: 'enforced', warnings: missingLimits };
    return { outcome: 'shared', warnings: [describeNotEnforced(parentCgroup, sharedMessage), ...missingLimits] };
  }

  prepare(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    const preparation = this.#runForPod(async () => {
      this.#sharedCgroups.recordOwnPod(uid);
      await this.#ensureParents();
      this.#podSpecs.set(uid, pod.spec);
      const createOnce = async () => {
        if (this.#preparedUids.has(uid)) return;
        await this.#createPodCgroup(pod);
        this.#preparedUids.add(uid);
      };
      await settleAll([this.#updateSharedLimits(), createOnce()]);
    });
    return this.#trackOperation(uid, preparation);
  }

  raise(pod: Pod, resource: ResizableResource): Promise<void> {
    return this.#resize(pod, resource, (limits) => this.#tree.raiseLimits(podCgroupNames(pod), limits));
  }

  trim(pod: Pod, resource: ResizableResource): Promise<void> {
    return this.#resize(pod, resource, (limits) => this.#tree.setLimits(podCgroupNames(pod), limits));
  }

  #resize(pod: Pod, resource: ResizableResource, applyLimits: (limits: CgroupLimits) => Promise<void>): Promise<void> {
    return this.#runForPod(async () => {
      this.#podSpecs.set(pod.metadata.uid, pod.spec);
      await this.#refreshSharedLimits();
      // Omit huge pages, because systemd and the kernel would also change the page sizes that the resize does not
      // specify.
      const {
        cpu,
        cpuShares,
        pids: _pids,
        hugepages: _hugepages,
        ...memory
      } = podCgroupLimits(pod.spec, this.#parts.rules);
      const cpuLimits = { ...(cpu ? { cpu } : {}), ...(cpuShares === undefined ? {} : { cpuShares }) };
      await applyLimits(resource === 'cpu' ? cpuLimits : memory);
    });
  }

  has(pod: Pod): boolean {
    return hasCgroup(this.#tree.toCgroup(podCgroupNames(pod)));
  }

  async isPopulated(pod: Pod): Promise<boolean> {
    const { cgroupfs, hierarchies } = this.#parts;
    const paths = this.#listCandidateNames(pod).map((names) => this.#tree.runtimeName(names));
    return (await Promise.all(paths.map((path) => hasProcesses({ cgroupfs, hierarchies, path })))).some(Boolean);
  }

  async mayBeShared(pod: Pod): Promise<boolean> {
    const { uid } = pod.metadata;
    const expectedCount = this.#podSpecs.has(uid) || this.#preparedUids.has(uid) ? 1 : 0;
    const existingCgroups = this.#listCandidateNames(pod).filter((names) => hasCgroup(this.#tree.toCgroup(names)));
    return existingCgroups.length > expectedCount || this.isPopulated(pod);
  }

  async kill(pod: Pod, signal: AbortSignal): Promise<void> {
    const { cgroupfs, hierarchies, wait } = this.#parts;
    for (const names of this.#listCandidateNames(pod)) {
      await killCgroup({ cgroupfs, hierarchies, path: this.#tree.runtimeName(names), signal, wait });
    }
  }

  async remove(pod: Pod, signal: AbortSignal): Promise<void> {
    const { cgroupfs, hierarchies, wait, onWarning } = this.#parts;
    const { uid } = pod.metadata;
    await this.#pendingByUid.get(uid);
    this.#podsWithMissingLimits.delete(uid);
    await this.kill(pod, signal);
    for (const names of this.#listCandidateNames(pod)) {
      if (hasCgroup(this.#tree.toCgroup(names))) {
        await this.#tree.stop(names).catch((error) => onWarning(messageOf(error)));
      }
      await removeCgroupTree({ cgroupfs, hierarchies, path: this.#tree.runtimeName(names), signal, wait }).catch(
        (error) => {
          // If the host has forbidden creating cgroups, ignore the error and leave existing ones in place. Otherwise
          // rethrow it, because cgroupfs may be temporarily read-only.
          if (this.#forbiddenMessage === undefined || !isForbidden(error)) throw error;
        },
      );
    }
    await this.forget(uid);
  }

  async forget(uid: string): Promise<void> {
    this.#sharedCgroups.forget(uid);
    for (const collection of [this.#podSpecs, this.#preparedUids, this.#podsWithMissingLimits]) collection.delete(uid);
    if (this.#writtenLimits.burstable !== undefined) await this.#runForPod(() => this.#refreshSharedLimits());
  }

  /** Runs an operation unless the host has forbidden an earlier one. */
  async #runUnlessForbidden(operation: () => Promise<void>): Promise<void> {
    if (this.#forbiddenMessage !== undefined) return;
    try {
      await operation();
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const isFirstRefusal = this.#forbiddenMessage === undefined;
      this.#forbiddenMessage = `pod cgroups are left to the runtime: ${messageOf(error)}`;
      if (isFirstRefusal) this.#parts.onWarning(this.#forbiddenMessage);
    }
  }

  #runForPod(operation: () => Promise<void>): Promise<void> {
    return this.#runUnlessForbidden(operation).catch((cause) => {
      const message = `unable to ensure pod container exists: ${messageOf(cause)}`;
      throw new NodeFailure('FailedCreatePodContainer', message, { cause });
    });
  }

  /**
   * Discards the setup if pods of other agents have appeared or disappeared, so that the parent cgroups are set up
   * again.
   */
  readonly #checkSharing = coalesceCalls(async (): Promise<void> => {
    if (!(await this.#sharedCgroups.refresh())) return;
    this.#writtenLimits = {};
    this.#parentSetup = undefined;
  });

  async #ensureParents(): Promise<void> {
    await this.#checkSharing();
    this.#parentSetup ??= this.#createParents().catch((error) => {
      this.#parentSetup = undefined;
      throw error;
    });
    await this.#parentSetup;
  }

  async #createParents(): Promise<void> {
    const { enforcedLimits, rules } = this.#parts;
    if (!this.#sharedCgroups.isShared()) {
      const limits = nodeCgroupLimits(enforcedLimits, rules);
      const { hadLimits: existed } = await this.#createWithLimits(ALL_PODS_CGROUP, limits);
      this.#isEnforced = !existed;
    }
    for (const qosClass of QOS_CLASSES)
      await this.#createWithLimits(
        [...ALL_PODS_CGROUP, qosClass],
        qosCgroupLimits(qosClass, this.#podSpecs.values(), rules),
      );
  }

  /**
   * Sets the limit on the total usage of all pods. If the pods already use more than the new limit, the old limit
   * remains until a later call succeeds.
   */
  async #enforceAllPodsLimit(): Promise<void> {
    if (this.#isEnforced || this.#sharedCgroups.isShared()) return;
    const { enforcedLimits, rules } = this.#parts;
    await this.#tree.setLimits(ALL_PODS_CGROUP, nodeCgroupLimits(enforcedLimits, rules));
    this.#isEnforced = true;
  }

  async #refreshSharedLimits(): Promise<void> {
    await this.#checkSharing();
    await this.#updateSharedLimits();
  }

  /** Sets those limits of shared cgroups that depend on the current pods. Must be called after `#checkSharing`. */
  readonly #updateSharedLimits = coalesceCalls(async (): Promise<void> => {
    const { rules } = this.#parts;
    const { hugepages: _, ...burstableLimits } = qosCgroupLimits('burstable', this.#podSpecs.values(), rules);
    const allPodsLimits = allPodsMemoryProtection(this.#podSpecs.values(), rules);
    if (
      !isJsonEqual(allPodsLimits, this.#writtenLimits.allPods ?? {}) &&
      (await this.#setSharedLimits(ALL_PODS_CGROUP, allPodsLimits))
    )
      this.#writtenLimits.allPods = allPodsLimits;
    if (
      !isJsonEqual(burstableLimits, this.#writtenLimits.burstable) &&
      (await this.#setSharedLimits(BURSTABLE_CGROUP, burstableLimits))
    )
      this.#writtenLimits.burstable = burstableLimits;
  });

  /** Sets limits of a shared cgroup and returns true, unless the cgroup contains pods of other agents. */
  async #setSharedLimits(names: readonly string[], limits: CgroupLimits): Promise<boolean> {
    if (!this.#sharedCgroups.mayChange(this.#tree.toCgroup(names).path)) return false;
    await this.#tree.setLimits(names, limits);
    return true;
  }

  /**
   * Restores the limits of the pods' parent cgroup and the QoS class cgroups if other software has changed them
   * (`UpdateCgroups` in `pkg/kubelet/cm/qos_container_manager_linux.go`).
   */
  async #restoreSharedLimits(): Promise<void> {
    const { rules } = this.#parts;
    const hasPods = this.#podSpecs.size > 0;
    if (hasPods) await this.#restoreLimits(ALL_PODS_CGROUP, allPodsMemoryProtection(this.#podSpecs.values(), rules));
    for (const qosClass of QOS_CLASSES) {
      if (qosClass === 'burstable' && !hasPods) continue;
      const limits = qosCgroupLimits(qosClass, this.#podSpecs.values(), rules);
      await this.#restoreLimits([...ALL_PODS_CGROUP, qosClass], limits);
    }
  }

  async #restoreLimits(names: readonly string[], limits: CgroupLimits): Promise<void> {
    if (!hasLimits(this.#tree.toCgroup(names), limits)) await this.#setSharedLimits(names, limits);
  }

  /** Tracks an operation, so that the removal of the pod's cgroup waits for it. */
  #trackOperation(uid: string, operation: Promise<void>): Promise<void> {
    const trackedOperation = Promise.allSettled([this.#pendingByUid.get(uid), operation]).finally(() => {
      if (this.#pendingByUid.get(uid) === trackedOperation) this.#pendingByUid.delete(uid);
    });
    this.#pendingByUid.set(uid, trackedOperation);
    return operation;
  }

  async #createPodCgroup(pod: Pod): Promise<void> {
    const names = podCgroupNames(pod);
    const limits = podCgroupLimits(pod.spec, this.#parts.rules);
    await this.#createWithLimits(names, limits);
    const cgroup = this.#tree.toCgroup(names);
    const missingControllers = findMissingControllers(cgroup, limits).join(', ');
    if (missingControllers === '') return void this.#podsWithMissingLimits.delete(pod.metadata.uid);
    const message = describeMissingControllers(this.#tree.runtimeName(names), missingControllers);
    this.#podsWithMissingLimits.set(pod.metadata.uid, { pod, message });
    this.#pathsWithoutLimits.add(cgroup.path);
    if (missingControllers !== this.#lastWarnedControllers) this.#parts.onWarning(message);
    this.#lastWarnedControllers = missingControllers;
  }

  async #createWithLimits(names: readonly string[], limits: CgroupLimits): Promise<{ hadLimits: boolean }> {
    const { mayChange, recordCreatedCgroup } = this.#sharedCgroups;
    const cgroup = this.#tree.toCgroup(names);
    const exists = hasCgroup(cgroup);
    const hadLimits = exists && !this.#pathsWithoutLimits.has(cgroup.path);
    if (!exists && !isPodName(names)) recordCreatedCgroup(cgroup.path);
    if (!hadLimits) {
      this.#pathsWithoutLimits.add(cgroup.path);
      await this.#tree.start(names, limits);
    }
    await createCgroup(cgroup, mayChange);
    // Processes in an existing cgroup may use more than the new limits, so limits are only raised here. `trim` lowers
    // them.
    if (mayChange(cgroup.path)) await (hadLimits ? raiseLimits : writeLimits)(cgroup, limits);
    this.#pathsWithoutLimits.delete(cgroup.path);
    return { hadLimits };
  }

  /**
   * Returns the names of the pod's cgroup and of the cgroups that an earlier version of the pod may have had in other
   * QoS classes, possibly under an earlier agent. If this run has not created a cgroup for the pod, all classes are
   * considered, because the earlier class is unknown.
   */
  #listCandidateNames(pod: Pod): (readonly string[])[] {
    const podName = `pod${pod.metadata.uid}`;
    const candidateNames = [
      [...ALL_PODS_CGROUP, podName],
      ...QOS_CLASSES.map((tier) => [...ALL_PODS_CGROUP, tier, podName]),
    ];
    if (!this.#preparedUids.has(pod.metadata.uid)) return candidateNames;
    const podCgroupPath = podCgroupNames(pod).join('/');
    return candidateNames.filter((names) => names.join('/') === podCgroupPath || hasCgroup(this.#tree.toCgroup(names)));
  }
}

/** Returns the kubelet's message if the limit on the total usage of all pods is not enforced. */
function describeNotEnforced({ cgroupRoot }: CgroupLocation, reason: string): string {
  const names = [...cgroupRoot.split('/').filter(Boolean), ...ALL_PODS_CGROUP]
    .map((name) => JSON.stringify(name))
    .join(' ');
  return `Failed to update Node Allocatable Limits [${names}]: ${reason}`;
}

const isPodName = (names: readonly string[]): boolean => names.at(-1)?.startsWith('pod') === true;

/**
 * Returns a function that runs `operation`, one run at a time. Calls during a run share the next run, so that every
 * caller waits for a run that starts after its call.
 */
function coalesceCalls(operation: () => Promise<void>): () => Promise<void> {
  let currentCall: Promise<void> = Promise.resolve();
  let nextCall: Promise<void> | undefined;
  const runNext = () => {
    nextCall = undefined;
    return operation();
  };
  return () => {
    nextCall ??= currentCall.then(runNext, runNext);
    currentCall = nextCall;
    return currentCall;
  };
}
