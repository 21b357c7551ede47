/**
 * Persists facts that must survive a restart, i.e. allocations, probe results, and statuses of terminated pods and
 * containers.
 */

import type { Clock } from '../../base/time/clock.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { sourceOf } from '../../kubernetes/api/pods/staticPod.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../kubernetes/api/schema/status.ts';
import { actuatedResources, allocationOf } from '../../kubernetes/resources/allocation.ts';
import { resourcesOf } from '../../kubernetes/resources/resize.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';
import { isUndecided } from '../../kubernetes/status/status.ts';
import type { ContainerEnds, PodView } from '../../kubernetes/status/view.ts';
import type { ProbeResults } from '../../machines/container/context.ts';
import { probeOf } from '../../machines/probe/context.ts';
import type { PersistFacts, StatusChange } from '../status/statusBoard.ts';
import type { StatusLedger } from '../status/statusLedger.ts';
import type { DurableFacts, NodeStore } from './durableFacts.ts';
import type { CheckpointedResources } from './resourceCheckpoints.ts';

/** Maximum time that a hanging disk delays a status, in milliseconds. */
const MAX_DELAY_MS = 5_000;

interface FactWriterDependencies {
  readonly store: Pick<NodeStore, 'write' | 'remove' | 'isUnwritten' | 'checkpointedResources' | 'checkpointResources'>;
  readonly durable: Pick<DurableFacts, 'allocations' | 'containerEnds' | 'probes'>;
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
  /** Persists the terminal statuses that sinks have to acknowledge. */
  readonly ledger: Pick<StatusLedger, 'saveTerminal'>;
}

export interface FactWriter {
  readonly persist: PersistFacts;
  /** Whether the last dead containers of a pod are the next agent's only evidence that it terminated (C2). */
  readonly isEvidence: (uid: string) => boolean;
}

/**
 * Creates a writer that persists the facts on which a status depends. Its promise resolves once these facts are
 * durable, because no later agent may report a different status (C2, C29). It also resolves after the first attempt to
 * write them has failed or taken too long, because a full disk may delay a status but not prevent it.
 */
export function createFactWriter({ store, durable, clock, onError, ledger }: FactWriterDependencies): FactWriter {
  /** UIDs of pods whose status was computed from the runtime's state. */
  const observedUids = new Set<string>();
  const logFailure = (write: Promise<void>) => write.catch((error) => onError('store', error));
  const writeFact = (...fact: Parameters<typeof store.write>) => logFailure(store.write(...fact));
  const probeWriter = createProbeWriter(durable, writeFact);
  const allocations = createAllocationWriter(durable, writeFact);
  const checkpointWriter = createCheckpointWriter(store, logFailure);
  const endWriter = createContainerEndWriter(durable, writeFact);

  const forgetPod = (uid: string) => {
    observedUids.delete(uid);
    allocations.forget(uid);
    checkpointWriter.forget(uid);
    probeWriter.forget(uid);
    endWriter.forget(uid);
    for (const kind of ['allocations', 'containerEnds', 'statuses', 'probes'] as const)
      logFailure(store.remove(kind, uid));
  };
  const persist: PersistFacts = (change) => {
    const { uid, pod, view, removed } = change;
    if (removed) {
      forgetPod(uid);
      const pendingWrite = ledger.saveTerminal(change, false);
      return pendingWrite && withMaxDelay(clock, pendingWrite);
    }
    if (!view.tags.includes('admitting') && !view.tags.includes('preparing')) observedUids.add(uid);
    const isFinalStatus = hasFinalStatus(change);
    // Retain the probe results on disk while the pod's containers are unknown, because there are no other results.
    const probeWrite = view.isUnsettled ? undefined : probeWriter.persist(uid, view);
    // A status does not depend on the container statuses written here. If the write fails, the next agent infers them
    // as far as possible.
    if (!view.isUnsettled) endWriter.persist(uid, change);
    const pendingWrites = [
      probeWrite,
      isFinalStatus && pod.status ? writeFact('statuses', uid, pod.status) : undefined,
      checkpointWriter.persist(uid, view),
      allocations.persist(uid, view),
      ledger.saveTerminal(change, isFinalStatus),
    ].filter((each) => each !== undefined);
    return pendingWrites.length > 0 ? withMaxDelay(clock, Promise.all(pendingWrites)) : undefined;
  };
  return { persist, isEvidence: (uid) => !observedUids.has(uid) || store.isUnwritten('statuses', uid) };
}

/**
 * Whether the next agent must know the pod's terminal status. A pod that the node rejected is admitted again after a
 * restart (C24), and a removed pod may run again if a source lists it again.
 */
const hasFinalStatus = ({ pod, view: { refusal, termination } }: StatusChange): boolean =>
  isTerminalPhase(pod.status?.phase) &&
  !refusal &&
  (termination === undefined || termination.staysUntilUnlisted === true);

type WriteFact = (...fact: Parameters<NodeStore['write']>) => Promise<void>;

/** Creates a writer of probe results, which are written when they change. */
function createProbeWriter(durable: Pick<DurableFacts, 'probes'>, write: WriteFact) {
  const writtenJson = new Map(Array.from(durable.probes, ([uid, results]) => [uid, JSON.stringify(results)]));
  return {
    forget: (uid: string) => void writtenJson.delete(uid),
    persist: (uid: string, view: PodView): Promise<void> | undefined => {
      const results = probeResults(view);
      const resultsJson = JSON.stringify(results);
      if (resultsJson === (writtenJson.get(uid) ?? '[]')) return undefined;
      writtenJson.set(uid, resultsJson);
      return write('probes', uid, results);
    },
  };
}

/**
 * Creates a writer for the statuses of terminated containers of pods that are not from an API server. Without these
 * statuses, the next agent could not report a run that the runtime has lost.
 */
function createContainerEndWriter(durable: Pick<DurableFacts, 'containerEnds'>, write: WriteFact) {
  const writtenJson = new Map(Array.from(durable.containerEnds, ([uid, ends]) => [uid, JSON.stringify(ends)]));
  return {
    forget: (uid: string) => void writtenJson.delete(uid),
    persist: (uid: string, { pod }: StatusChange): void => {
      if (sourceOf(pod) === 'api' || pod.status === undefined) return;
      const containerEnds = collectContainerEnds(pod.status);
      const endsJson = JSON.stringify(containerEnds);
      if (endsJson === (writtenJson.get(uid) ?? '{}')) return;
      writtenJson.set(uid, endsJson);
      void write('containerEnds', uid, containerEnds);
    },
  };
}

function collectContainerEnds(status: PodStatus): ContainerEnds {
  const statusFields = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;
  const terminatedByField = statusFields.map(
    (list) => [list, (status[list] ?? []).flatMap(terminatedStatuses)] as const,
  );
  return Object.fromEntries(terminatedByField.filter(([, statuses]) => statuses.length > 0));
}

/**
 * Returns a container's status with only its terminated state. The state of a running or waiting container is omitted,
 * because its changes must not cause writes.
 */
function terminatedStatuses(status: ContainerStatus): ContainerStatus[] {
  if (status.state?.terminated) return [status];
  if (!status.lastState?.terminated) return [];
  const { name, image, imageID, restartCount, lastState, containerID } = status;
  const id = containerID === undefined ? {} : { containerID };
  return [{ name, image, imageID, restartCount, state: {}, lastState, ready: false, ...id }];
}

/**
 * Creates a writer of admitted resources. A status waits for this write if the resources have changed. The first status
 * of a pod without stored resources also waits, because the status contains the QoS class. After a restart, the QoS
 * class must be that of the admitted pod, even if its manifest has changed.
 */
function createAllocationWriter({ allocations }: Pick<DurableFacts, 'allocations'>, write: WriteFact) {
  const admittedSpecs = new Map<string, PodSpec>();
  const savedUids = new Set(allocations.keys());
  return {
    forget: (uid: string) => {
      admittedSpecs.delete(uid);
      savedUids.delete(uid);
    },
    persist: (uid: string, view: PodView): Promise<void> | undefined => {
      const previousSpec = admittedSpecs.get(uid);
      if (previousSpec === view.pod.spec || !isAdmitted(view)) return undefined;
      admittedSpecs.set(uid, view.pod.spec);
      const pendingWrite = write('allocations', uid, allocationOf(view.pod));
      return previousSpec === undefined && savedUids.has(uid) ? undefined : pendingWrite;
    },
  };
}

/**
 * Whether the resources of the view were admitted. A pod that is terminating from the start retains its persisted
 * allocation, because even its spec may be unknown.
 */
const isAdmitted = (view: PodView): boolean => !view.termination && !view.refusal && !isUndecided(view);

type CheckpointStore = Pick<NodeStore, 'checkpointedResources' | 'checkpointResources'>;

/**
 * Creates a writer of the kubelet's checkpoints. A status waits for the write, so that the next agent knows the
 * resources in the status, even if that agent is a kubelet.
 */
function createCheckpointWriter(store: CheckpointStore, logFailure: (write: Promise<void>) => Promise<void>) {
  const persistedViews = new Map<string, PodView>();
  const write = (uid: string, resources: CheckpointedResources) => {
    const pendingWrite = store.checkpointResources(uid, resources);
    return pendingWrite && logFailure(pendingWrite);
  };
  return {
    forget: (uid: string) => {
      persistedViews.delete(uid);
      void write(uid, { allocated: undefined, actuated: undefined });
    },
    persist: (uid: string, view: PodView): Promise<void> | undefined => {
      // Skip an unsettled pod, because the sizes of containers without actors are unknown.
      if (view.isUnsettled || !isAdmitted(view) || hasSameActuation(persistedViews.get(uid), view)) return undefined;
      persistedViews.set(uid, view);
      const { actuated } = store.checkpointedResources(uid);
      return write(uid, { allocated: resourcesOf(view.pod), actuated: actuatedResources(view, actuated) });
    },
  };
}

/** Whether the admitted and the actual resources of two views are the same. */
function hasSameActuation(previous: PodView | undefined, next: PodView): boolean {
  if (previous === undefined || previous.pod.spec !== next.pod.spec) return false;
  if (previous.appliedSpec !== next.appliedSpec || previous.isResizing !== next.isResizing) return false;
  if (previous.uncertainSpec !== next.uncertainSpec) return false;
  if (!isJsonEqual(previous.uncertainSizes, next.uncertainSizes)) return false;
  return (
    previous.containers.length === next.containers.length &&
    previous.containers.every(({ size }, index) => size === next.containers[index]?.size)
  );
}

/** Resolves when the work is complete or after the maximum delay. */
function withMaxDelay(clock: Clock, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, MAX_DELAY_MS);
    work.then(() => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
}

/** Returns the probe results of the running containers (C29). */
function probeResults({ pod, containers }: PodView): ProbeResults[] {
  return containers.flatMap(({ name, containerId: id, now, started, ready }) => {
    const hasProbes = PROBE_KINDS.some((kind) => probeOf(pod, name, kind) !== undefined);
    return hasProbes && id !== undefined && now.kind === 'running' ? [{ id, started, ready }] : [];
  });
}

const PROBE_KINDS = ['startup', 'liveness', 'readiness'] as const;
