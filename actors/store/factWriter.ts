/**
 * Persists facts that must survive a restart, i.e. allocations, probe results, and statuses of terminated pods and
 * containers.
 */

import type { Clock } from '../../base/clock.ts';
import type { ContainerStatus, PodStatus } from '../../kubernetes/api/schema/status.ts';
import { sourceOf } from '../../kubernetes/api/staticPod.ts';
import { allocationOf, sizesOf } from '../../kubernetes/resources/allocation.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';
import { isUndecided } from '../../kubernetes/status/status.ts';
import type { ContainerEnds, PodView } from '../../kubernetes/status/view.ts';
import type { Probed } from '../../machines/container/context.ts';
import { probeOf } from '../../machines/probe/context.ts';
import type { PersistFacts, StatusChange } from '../status/statusBoard.ts';
import type { DurableFacts, NodeStore } from './durableFacts.ts';

/** Maximum time that a hanging disk delays a status, in milliseconds. */
const MAX_DELAY_MS = 5_000;

interface FactWriterParts {
  readonly store: Pick<NodeStore, 'write' | 'remove' | 'isUnwritten'>;
  readonly durable: Pick<DurableFacts, 'allocations' | 'containerEnds' | 'probes'>;
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
  /** Persists terminal statuses that sinks have to acknowledge. `isFinal` marks a pod that must not run again. */
  readonly persistTerminal: (change: StatusChange, isFinal: boolean) => Promise<void> | undefined;
}

export interface FactWriter {
  readonly persist: PersistFacts;
  /** Whether the last dead containers of a pod are the next agent's only evidence that it terminated (C2). */
  readonly isEvidence: (uid: string) => boolean;
}

/**
 * Creates a writer for the facts of each change. Its promise resolves once the facts that the status depends on are
 * durable, because no later agent may report a different status (C2, C29). It also resolves after the first attempt to
 * write these facts has failed or taken too long, because a full disk may delay a status but not prevent it.
 */
export function createFactWriter({ store, durable, clock, onError, persistTerminal }: FactWriterParts): FactWriter {
  /** UIDs of pods whose status was computed from the runtime's state. */
  const observed = new Set<string>();
  const logFailure = (write: Promise<void>) => write.catch((error) => onError('store', error));
  const write = (...fact: Parameters<typeof store.write>) => logFailure(store.write(...fact));
  const probes = probeWriter(durable, write);
  const allocations = allocationWriter(durable, write);
  const containerEnds = containerEndWriter(durable, write);

  const forget = (uid: string) => {
    observed.delete(uid);
    allocations.forget(uid);
    probes.forget(uid);
    containerEnds.forget(uid);
    for (const kind of ['allocations', 'containerEnds', 'statuses', 'probes'] as const)
      logFailure(store.remove(kind, uid));
  };
  const persist: PersistFacts = (change) => {
    const { uid, pod, view, removed } = change;
    if (removed) {
      forget(uid);
      const written = persistTerminal(change, false);
      return written && withMaxDelay(clock, written);
    }
    if (!view.tags.includes('admitting') && !view.tags.includes('preparing')) observed.add(uid);
    const isEnd = isFinal(change);
    // Until the pod's containers are known, the only probe results are those on disk.
    const probesWritten = view.unsettled ? undefined : probes.persist(uid, view);
    // A status does not depend on this write. If it fails, the next agent infers the container statuses as far as
    // possible.
    if (!view.unsettled) containerEnds.persist(uid, change);
    const writes = [
      probesWritten,
      isEnd && pod.status ? write('statuses', uid, pod.status) : undefined,
      allocations.persist(uid, view),
      persistTerminal(change, isEnd),
    ].filter((each) => each !== undefined);
    return writes.length > 0 ? withMaxDelay(clock, Promise.all(writes)) : undefined;
  };
  return { persist, isEvidence: (uid) => !observed.has(uid) || store.isUnwritten('statuses', uid) };
}

/**
 * Whether the next agent must know the pod's terminal status. A pod that the node rejected is admitted again after a
 * restart (C24), and a removed pod may run again if a source wants it again.
 */
const isFinal = ({ pod, view: { refused, termination } }: StatusChange): boolean =>
  isTerminalPhase(pod.status?.phase) && !refused && (termination === undefined || termination.stays === true);

type Write = (...fact: Parameters<NodeStore['write']>) => Promise<void>;

/** Creates a writer of probe results, which are written when they change. */
function probeWriter(durable: Pick<DurableFacts, 'probes'>, write: Write) {
  const written = new Map(Array.from(durable.probes, ([uid, results]) => [uid, JSON.stringify(results)]));
  return {
    forget: (uid: string) => void written.delete(uid),
    persist: (uid: string, view: PodView): Promise<void> | undefined => {
      const results = probeResults(view);
      const text = JSON.stringify(results);
      if (text === (written.get(uid) ?? '[]')) return undefined;
      written.set(uid, text);
      return write('probes', uid, results);
    },
  };
}

/**
 * Creates a writer for the statuses of terminated containers, for pods that are not from an API server. There is no
 * other copy from which the next agent could report a run that the runtime has lost.
 */
function containerEndWriter(durable: Pick<DurableFacts, 'containerEnds'>, write: Write) {
  const written = new Map(Array.from(durable.containerEnds, ([uid, ends]) => [uid, JSON.stringify(ends)]));
  return {
    forget: (uid: string) => void written.delete(uid),
    persist: (uid: string, { pod }: StatusChange): void => {
      if (sourceOf(pod) === 'api' || pod.status === undefined) return;
      const ends = containerEndsOf(pod.status);
      const text = JSON.stringify(ends);
      if (text === (written.get(uid) ?? '{}')) return;
      written.set(uid, text);
      void write('containerEnds', uid, ends);
    },
  };
}

function containerEndsOf(status: PodStatus): ContainerEnds {
  const lists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;
  const terminated = lists.map((list) => [list, (status[list] ?? []).flatMap(terminatedStatuses)] as const);
  return Object.fromEntries(terminated.filter(([, statuses]) => statuses.length > 0));
}

/**
 * Returns the terminated part of a container's status. The state of a running or waiting container is omitted, because
 * its changes must not cause writes.
 */
function terminatedStatuses(status: ContainerStatus): ContainerStatus[] {
  if (status.state?.terminated) return [status];
  if (!status.lastState?.terminated) return [];
  const { name, image, imageID, restartCount, lastState, containerID } = status;
  const id = containerID === undefined ? {} : { containerID };
  return [{ name, image, imageID, restartCount, state: {}, lastState, ready: false, ...id }];
}

/**
 * Creates a writer of admitted resources. A status depends on them if the size has changed, and the first one also
 * because it contains the QoS class. After a restart, this must be the class of the admitted pod, even if its manifest
 * has changed.
 */
function allocationWriter({ allocations }: Pick<DurableFacts, 'allocations'>, write: Write) {
  const admitted = new Map<string, PodView>();
  const saved = new Set(allocations.keys());
  return {
    forget: (uid: string) => {
      admitted.delete(uid);
      saved.delete(uid);
    },
    persist: (uid: string, view: PodView): Promise<void> | undefined => {
      // A pod that is terminating from the start may not even have a known spec, so the stored allocation is better.
      const previous = admitted.get(uid);
      const isUnchanged = previous?.pod.spec === view.pod.spec && previous.resizing === view.resizing;
      if (isUnchanged || view.termination || view.refused || isUndecided(view)) return undefined;
      admitted.set(uid, view);
      const written = write('allocations', uid, allocationOf(view.pod, view.resizing ? sizesOf(view) : undefined));
      return previous === undefined && saved.has(uid) ? undefined : written;
    },
  };
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
function probeResults({ pod, containers }: PodView): Probed[] {
  return containers.flatMap(({ name, containerId: id, now, started, ready }) => {
    const hasProbes = PROBES.some((kind) => probeOf(pod, name, kind) !== undefined);
    return hasProbes && id !== undefined && now.kind === 'running' ? [{ id, started, ready }] : [];
  });
}

const PROBES = ['startup', 'liveness', 'readiness'] as const;
