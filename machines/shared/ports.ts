/**
 * Defines the ports by their input and output types. Machines make all calls to the outside world, e.g. to the runtime
 * or the disk, through ports. A machine names a port in `setup`, and `provideActors` inserts the implementation behind
 * the recording boundary. Every output is plain, serializable data, and every rejection is a `Failure`.
 */

import {
  type AnyActorLogic,
  type AnyStateMachine,
  type CallbackActorLogic,
  fromCallback,
  fromPromise,
  type NonReducibleUnknown,
  type PromiseActorLogic,
  StateMachine,
} from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { CpuAssignments } from '../../kubernetes/cpus/cpuPolicy.ts';
import type { PreferenceRequest } from '../../kubernetes/devices/chooseDevices.ts';
import type { ContainerEdits, DeviceAllocation, DeviceResource } from '../../kubernetes/devices/devices.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { DiskLayout } from '../../kubernetes/eviction/layout.ts';
import type { Observations } from '../../kubernetes/eviction/pressure.ts';
import type { MeasuredResource, PodUsages } from '../../kubernetes/eviction/usage.ts';
import type { ImageCollection, RemovedImage } from '../../kubernetes/images/imageGarbage.ts';
import type { AttemptIdentity } from '../../kubernetes/lifecycle/changedId.ts';
import type { DeadContainer } from '../../kubernetes/lifecycle/garbage.ts';
import type {
  ContainerRun,
  ForeignPod,
  LeftoverPod,
  ObservedContainer,
  ObservedSandbox,
} from '../../kubernetes/lifecycle/observed.ts';
import type { MountedVolume, MountedVolumes } from '../../kubernetes/mountedVolume.ts';
import type { MemoryAssignments } from '../../kubernetes/numaMemory/memoryAssignments.ts';
import type { CgroupSetup } from '../../kubernetes/resources/cgroup.ts';
import type { ContainerSize } from '../../kubernetes/resources/containerSize.ts';
import type { ProbeKind } from '../../kubernetes/status/view.ts';
import type { CertificatePorts } from '../certificate/ports.ts';
import type { OwnNodeState } from './events/clusterFacts.ts';
import type { FeedName } from './events/events.ts';
import type { ImageCheck } from './events/imageCheck.ts';
import type { TimerInput } from './waiting/timerInput.ts';

/** A container in the runtime as it was last known. Its ID may have changed since then. */
export interface KnownContainer extends AttemptIdentity {
  readonly pod: Pod;
  readonly container: string;
}

/** A container in the runtime, with its actual resources. */
export interface SizedContainer {
  readonly name: string;
  readonly id: string;
  readonly size: ContainerSize;
  /** Whether an unsuccessful resize may have changed the container, so that its actual size is unknown. */
  readonly isUncertain?: boolean | undefined;
}

/** Input and output of each port. */
export interface PortTypes extends CertificatePorts {
  /**
   * Sends a pod's latest status to a sink and returns the version of that status. Rejects with the sink's error. Has a
   * time limit. Idempotent.
   */
  putStatus: { input: { sink: string; uid: string }; output: { version: number } };
  /**
   * Creates the Node object, or updates the labels, annotations and resources of an existing one. Has a time limit.
   * Idempotent. `events` describe the node's properties.
   */
  registerNode: { input: null; output: { uid: string; events: readonly EventMessage[]; isNew?: boolean } };
  /** Reads the Node from the API server. Has a time limit. */
  readNode: { input: null; output: OwnNodeState };
  /** Creates the CSINode of the Node with this UID, replacing that of an earlier Node. Has a time limit. Idempotent. */
  ensureCsiNode: { input: { uid: string }; output: null };
  /**
   * Writes the Node's status if it has changed or has not been written for some time. `events` describe changes to
   * conditions. Idempotent.
   */
  putNodeStatus: { input: null; output: { isWritten: boolean; events: readonly EventMessage[] } };
  /** Creates the mirror pod of a static pod, owned by the Node with this UID. Has a time limit. */
  createMirror: { input: { pod: Pod; nodeUid: string }; output: null };
  /**
   * Deletes a mirror pod without a grace period, unless another pod has taken the name since. Has a time limit.
   * Idempotent.
   */
  removeMirror: { input: { namespace: string; name: string; uid: string }; output: null };
  /**
   * Renews or creates the lease. Does neither if there is no Node. Has a time limit. `chance` is a random number in [0,
   * 1).
   */
  renewLease: { input: null; output: { isHeld: boolean; chance: number } };
  /**
   * Creates the pod's directory, log directory and hosts file, before its volumes are mounted. `ran` contains the pod's
   * existing sandboxes in the runtime. Idempotent.
   */
  preparePod: { input: { pod: Pod; ran: readonly string[] }; output: null };
  /**
   * Creates the parent cgroups of pods with their limits. Limits that were omitted while the cgroups contained pods of
   * other agents are set as well. Idempotent.
   */
  setUpCgroups: { input: null; output: CgroupSetup };
  /** Creates the pod's cgroup with its limits, before anything runs in it (C25). Idempotent. */
  prepareCgroup: { input: { pod: Pod }; output: null };
  /**
   * Kills the remaining processes in the pod's cgroup and removes the cgroup, once all volumes are unmounted. `ran`
   * contains the sandboxes that the pod had in the runtime. Idempotent.
   */
  removeCgroup: { input: { pod: Pod; ran: readonly string[] }; output: null };
  /**
   * Removes the files that `preparePod` created, as the last step. With `keepsLogs`, retains the logs, because the pod
   * starts again and its restart counts continue. Idempotent.
   */
  removePodData: { input: { pod: Pod; keepsLogs?: boolean }; output: null };
  /**
   * Makes a volume's content available at a host path, or updates it in place. An image volume is mounted by the
   * runtime, so this port only checks whether image volumes are supported. Idempotent.
   */
  mountVolume: { input: { pod: Pod; volume: string; limitMs: number }; output: MountedVolume | null };
  unmountVolume: { input: { pod: Pod; volume: string; limitMs: number }; output: null };
  /** Creates and starts a sandbox and reads its status, which contains the pod's addresses. */
  runSandbox: {
    input: { pod: Pod; attempt: number };
    /**
     * `madeAt` is the time at which the call returned, in milliseconds since the epoch. `warnings` are events about the
     * creation.
     */
    output: ObservedSandbox & { readonly madeAt: number; readonly warnings?: readonly EventMessage[] };
  };
  /**
   * Returns the state of the sandbox, or null if the runtime does not have it. Fails if the runtime has it under a
   * different ID, because only a list contains the new IDs of its containers.
   */
  inspectSandbox: {
    input: { id: string; sandbox: Pick<ObservedSandbox, 'podUid' | 'attempt' | 'createdAt'> | undefined };
    output: ObservedSandbox | null;
  };
  /**
   * Stops the sandboxes and everything in them, including their network. `ids` must contain all sandboxes of the pod.
   * Processes unknown to the runtime are killed. Idempotent.
   */
  stopSandboxes: { input: { pod: Pod; ids: readonly string[] }; output: null };
  /** Removes the sandboxes with all their containers. */
  removeSandboxes: { input: { ids: readonly string[] }; output: null };
  /** Requests a restart of the node's own runtime, which its pods survive. Does nothing for any other runtime. */
  restartRuntime: { input: { why: string }; output: null };
  findImage: { input: { pod: Pod; image: string; policy: string | undefined }; output: ImageCheck };
  /** Pulls an image within the time limit, even if it is present. The times are in milliseconds since the epoch. */
  pullImage: {
    input: { pod: Pod; image: string; limitMs: number | undefined };
    output: { imageRef: string; sizeBytes: number; startedAt: number; finishedAt: number };
  };
  /**
   * Returns the restart count of each container, including the next run, according to the log files of earlier runs.
   * Used if the runtime has no run of the container. Logs that cannot be read within `limitMs` milliseconds are
   * reported and treated as missing.
   */
  countRestarts: {
    input: { pod: Pod; containers: readonly string[]; limitMs?: number };
    output: { restarts: Readonly<Record<string, number>> };
  };
  /**
   * Reads and caches the objects that a container's environment variables refer to, so that the container can be
   * created. Has a time limit. Idempotent.
   */
  readObjects: { input: { pod: Pod; container: string }; output: null };
  /**
   * Requests that the device plugins prepare the devices of a container that is about to be created.
   * `areDevicesMissing` reports that the container has lost devices, which then have to be allocated again. Rejects if
   * a plugin would have to prepare a lost device. `at` is in milliseconds since the epoch. Has a time limit.
   * Idempotent.
   */
  prepareDevices: { input: { pod: Pod; container: string }; output: { areDevicesMissing: boolean; at: number } };
  /**
   * Ensures that a container with this name and attempt number exists in the sandbox, even if an earlier response was
   * lost.
   */
  createContainer: {
    input: {
      pod: Pod;
      container: string;
      sandbox: ObservedSandbox;
      attempt: number;
      imageRef: string;
      volumes: MountedVolumes;
    };
    output: { id: string };
  };
  /**
   * Ensures that a container has started, creates its log symlink, and reads its status. The container may already have
   * exited. The output contains the container's current ID.
   */
  startContainer: {
    input: KnownContainer;
    /**
     * `refusal` is the runtime's reason why the container could not be started, in which case the container has exited.
     */
    output: ObservedContainer & { readonly refusal?: { readonly message: string } };
  };
  /**
   * Stops a container with SIGTERM, and with SIGKILL at the deadline or, without one, after the grace period, which is
   * at least 2 s (C10). The output is its last status, or null if the runtime does not have the container under any ID.
   * A failure contains the grace period that was granted.
   */
  stopContainer: {
    input: KnownContainer & { graceSeconds: number; deadline: number | undefined };
    output: ObservedContainer | null;
  };
  /**
   * Applies the resources in the spec to the given running containers and to the pod's cgroup. `appliedPod` is the
   * version of the pod whose limits the cgroup has, and undefined if they are unknown. Returns what has been applied.
   * Idempotent.
   */
  resizePod: {
    input: {
      pod: Pod;
      appliedPod: Pod | undefined;
      sandboxId: string | undefined;
      containers: readonly SizedContainer[];
    };
    output: { pod: Pod; resized: readonly SizedContainer[] };
  };
  removeContainers: { input: { ids: readonly string[] }; output: null };
  /**
   * Measures how much of the node's resources is left, and the disk usage of the given pods. `layout` describes the
   * node's filesystems. `at` is the time of the measurement in milliseconds since the epoch, and `uptimeMs` is the same
   * time on the monotonic clock. Has a time limit.
   */
  measureResources: {
    input: { limitedUids: readonly string[] };
    output: { layout: DiskLayout; observations: Observations; usages: PodUsages; at: number; uptimeMs: number };
  };
  /**
   * Measures the usage of the resource by which pods are ranked for eviction. `at` is in milliseconds since the epoch.
   * Has a time limit.
   */
  measurePods: {
    input: { uids: readonly string[]; resource: MeasuredResource };
    output: { usages: PodUsages; at: number };
  };
  /**
   * Reads the maximum shutdown delay from logind. On attempt number `maxAttempts`, rejects if the delay is still
   * shorter than required. Has a time limit.
   */
  readInhibitDelay: {
    input: { requiredMs: number; attempt: number; maxAttempts: number };
    output: { delayMs: number };
  };
  /** Configures the maximum delay of a shutdown, which logind applies asynchronously. Has a time limit. Idempotent. */
  raiseInhibitDelay: { input: { delayMs: number }; output: null };
  /**
   * Saves the start time of the shutdown and, with `isComplete`, the current time as its end. Returns the current time
   * in `at`. Times are in milliseconds since the epoch. Has a time limit. Idempotent.
   */
  saveShutdown: { input: { startedAt: number; isComplete: boolean }; output: { at: number } };
  /**
   * Removes dead containers with their logs, and empty sandboxes. Removes as many as possible and then rejects with the
   * first failure. Idempotent.
   */
  removeGarbage: {
    input: { containers: readonly DeadContainer[]; sandboxes: readonly string[] };
    output: null;
  };
  /**
   * Determines which images exist and which of them are in use, and removes unused images according to the node's
   * policy. Only pods in `activePodUids` may still create containers from images that they have checked or pulled.
   * Rejects if the images cannot be listed. Any other failure is part of the output.
   */
  collectImages: { input: { activePodUids: readonly string[] }; output: ImageCollection };
  /**
   * Removes all unused images that the minimum age does not protect. `activePodUids` has the same meaning as in
   * `collectImages`. Rejects if the images cannot be listed, or, after trying them all, if some cannot be removed.
   * Idempotent.
   */
  removeUnusedImages: { input: { activePodUids: readonly string[] }; output: { removed: readonly RemovedImage[] } };
  /** Persists the CPU assignments in the kubelet's format and applies them to new containers. Idempotent. */
  saveCpus: { input: { assignments: CpuAssignments }; output: null };
  /** Persists the memory assignments in the kubelet's format and applies them to new containers. Idempotent. */
  saveMemory: { input: { assignments: MemoryAssignments }; output: null };
  /**
   * Updates running containers that have, or may have, CPUs other than those assigned to them. Updates as many as
   * possible and then rejects with the first failure. Idempotent.
   */
  reconcileCpus: {
    input: { containers: readonly ContainerRun[] };
    output: { updatedCount: number };
  };
  /** Queries the devices that the plugin of a resource prefers. */
  preferDevices: {
    input: { resource: string; request: PreferenceRequest };
    output: { preferred: readonly string[] };
  };
  /** Requests that a plugin allocate devices for a container. Has no time limit, as in the kubelet. */
  allocateDevices: {
    input: { uid: string; pod: string; container: string; resource: string; devices: readonly string[] };
    output: { edits: ContainerEdits };
  };
  /** Persists the device allocations in the kubelet's format and applies them to new containers. Idempotent. */
  saveDevices: {
    input: { allocations: readonly DeviceAllocation[]; resources: readonly DeviceResource[] };
    output: null;
  };
  /**
   * Prepares the pod's ResourceClaims through their drivers, before its sandbox is created. Has a time limit per driver.
   * Idempotent.
   */
  prepareClaims: { input: { pod: Pod }; output: null };
  /**
   * Unprepares the pod's ResourceClaims that no other pod uses, after the pod's containers have stopped. Has a time
   * limit per driver. Idempotent.
   */
  unprepareClaims: { input: { pod: Pod }; output: null };
  /**
   * Unprepares ResourceClaims whose pods are not among the given ones. Tries all of them and then rejects with the
   * first failure. Idempotent.
   */
  unprepareLeftoverClaims: { input: { activePodUids: readonly string[] }; output: null };
  /** Deletes the node's ResourceSlices, by default those of all drivers. Has a time limit. Idempotent. */
  deleteResourceSlices: { input: { driver?: string | undefined }; output: null };
  /**
   * Rotates the logs that have grown too large. If one log cannot be rotated, the failure is reported and the remaining
   * logs are still rotated.
   */
  rotateLogs: { input: { logs: readonly ContainerRun[] }; output: null };
  /**
   * Finds unknown pods that have a directory below this agent's root. These are leftover pods of this agent, and pods
   * of other agents that have changed compared to the input. `removedUids` contains the UIDs of foreign pods that no
   * longer have a directory. `failure` says why partially created or removed files remain.
   */
  surveyDisk: {
    input: { activePodUids: readonly string[]; foreign: readonly ForeignPod[] };
    output: {
      left: readonly LeftoverPod[];
      foreign: readonly ForeignPod[];
      removedUids?: readonly string[];
      failure?: Failure;
    };
  };
  /** Returns the state of the container, including its current ID, or null if the runtime does not have it. */
  inspectContainer: { input: KnownContainer; output: ObservedContainer | null };
  /**
   * Runs a hook of a container within the grace period and returns its result. A failed preStop hook does not prevent
   * the stop. `deadline` is the end of the grace period (ms since the epoch). If it is undefined, the grace period
   * counts from the hook's start.
   */
  runHook: {
    input: {
      pod: Pod;
      container: string;
      id: string;
      hook: 'postStart' | 'preStop';
      podIp: string | undefined;
      graceSeconds: number;
      deadline: number | undefined;
    };
    /**
     * Deadline and remaining grace period of the container after the hook. `graceSeconds` is unaffected by clock
     * changes and absent from older recordings. `warnings` are events about the hook.
     */
    output: { deadline: number; graceSeconds?: number; failure: Failure | null; warnings?: readonly EventMessage[] };
  };
  /**
   * Runs one attempt of a probe, within its timeout. A failed probe is a result, not a rejection. The result `error`
   * means that the probe could not be run, even after three attempts.
   */
  runProbe: { input: ProbeRun; output: ProbeResult };
  /** Picks a random time at most `withinMs` milliseconds from now. */
  pickTime: { input: { withinMs: number }; output: { at: number } };
}

export interface ProbeRun {
  readonly pod: Pod;
  readonly container: string;
  readonly kind: ProbeKind;
  readonly id: string;
  /** Address of the pod. Undefined for a pod without an address of its own. */
  readonly podIp: string | undefined;
}

/** The result of an attempt. `startedAt` and `at` are in milliseconds since the epoch. */
export interface ProbeResult {
  readonly result: 'success' | 'warning' | 'failure' | 'error';
  readonly message: string;
  readonly startedAt: number;
  readonly at: number;
}

export type PortName = keyof PortTypes;

/** The type of a port's promise logic. */
export type Port<K extends PortName> = PromiseActorLogic<
  PortTypes[K]['output'] & NonReducibleUnknown,
  PortTypes[K]['input'] & NonReducibleUnknown
>;

export type TimerLogic = CallbackActorLogic<{ type: 'timer.never' }, TimerInput>;

/** Logic of a feed, which is a callback actor that sends facts until it is stopped. */
export type FeedLogic = CallbackActorLogic<{ type: 'feed.never' }>;

/** Supplies the implementations for the placeholders that machines declare. */
export interface Provider {
  port<K extends PortName>(name: K): Port<K>;
  feed(name: FeedName): FeedLogic;
  readonly timer: TimerLogic;
}

const placeholders = new WeakMap<object, (provider: Provider) => AnyActorLogic>();

function placeholder<L extends AnyActorLogic>(logic: L, provide: (provider: Provider) => L): L {
  placeholders.set(logic, provide);
  return logic;
}

/** Declares a port in a machine. The placeholder rejects until `provideActors` replaces it. */
export function port<K extends PortName>(name: K): Port<K> {
  const rejectingLogic = fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>(() =>
    Promise.reject(new Error(`the port ${name} is not provided`)),
  );
  return placeholder(rejectingLogic as Port<K>, (provider) => provider.port(name));
}

/** Declares the timer in a machine. Its implementation uses the injected clock. */
export function timerPort(): TimerLogic {
  const rejectingLogic = fromCallback<{ type: 'timer.never' }, TimerInput>(() => {
    throw new Error('the timer is not provided');
  });
  return placeholder(rejectingLogic, ({ timer }) => timer);
}

export function feedPort(name: FeedName): FeedLogic {
  const rejectingLogic = fromCallback<{ type: 'feed.never' }>(() => {
    throw new Error(`the feed ${name} is not provided`);
  });
  return placeholder(rejectingLogic, (provider) => provider.feed(name));
}

/**
 * Returns a copy of a machine in which every placeholder is replaced, including those of the machines that it can spawn
 * or invoke.
 */
export function provideActors<M extends AnyStateMachine>(machine: M, provider: Provider): M {
  const actors = Object.entries(machine.implementations.actors).map(([name, logic]) => {
    const implementation =
      logic instanceof StateMachine ? provideActors(logic, provider) : placeholders.get(logic)?.(provider);
    return [name, implementation ?? logic];
  });
  // Safe cast: each implementation has the type of its placeholder.
  return machine.provide({ actors: Object.fromEntries(actors) }) as M;
}
