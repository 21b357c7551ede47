/** Persists the facts that must outlive a restart: allocations, results of probes, ends of pods and of containers. */

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

/** A disk that answers nothing holds a status back no longer than this, in milliseconds. */
const HOLD_MS = 5_000;

interface FactWriterParts {
  readonly store: Pick<NodeStore, 'write' | 'remove' | 'isUnwritten'>;
  readonly durable: Pick<DurableFacts, 'allocations' | 'containerEnds' | 'probes'>;
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
  /** Writes the ends that sinks have to acknowledge; `isFinal`: of a pod that must not run again. */
  readonly keepEnd: (change: StatusChange, isFinal: boolean) => Promise<void> | undefined;
}

export interface FactWriter {
  readonly keep: PersistFacts;
  /** Whether the latest dead containers of a pod are all that the next agent could see its end by (C2). */
  readonly isEvidence: (uid: string) => boolean;
}

/**
 * Writes the facts of each change. What it answers resolves once those that the status itself rests on are durable, so
 * that no later agent tells otherwise (C2, C29); also once their first write has failed, or takes too long: a status is
 * late then, but never kept back by a full disk.
 */
export function createFactWriter({ store, durable, clock, onError, keepEnd }: FactWriterParts): FactWriter {
  /** The pods whose status was told from what the runtime has of them. */
  const read = new Set<string>();
  const settled = (write: Promise<void>) => write.catch((error) => onError('store', error));
  const write = (...fact: Parameters<typeof store.write>) => settled(store.write(...fact));
  const probes = keepProbes(durable, write);
  const allocations = keepAllocations(durable, write);
  const containerEnds = persistContainerEnds(durable, write);

  const forget = (uid: string) => {
    read.delete(uid);
    allocations.forget(uid);
    probes.forget(uid);
    containerEnds.forget(uid);
    for (const kind of ['allocations', 'containerEnds', 'statuses', 'probes'] as const)
      settled(store.remove(kind, uid));
  };
  const keep: PersistFacts = (change) => {
    const { uid, pod, view, removed } = change;
    if (removed) {
      forget(uid);
      const written = keepEnd(change, false);
      return written && atMost(clock, written);
    }
    if (!view.tags.includes('admitting') && !view.tags.includes('preparing')) read.add(uid);
    const isEnd = isFinal(change);
    // Before its containers are known, what is on disk of their probes is all there is.
    const probing = view.unsettled ? undefined : probes.keep(uid, view);
    // A status does not wait for this write: without it the next agent infers what it can.
    if (!view.unsettled) containerEnds.persist(uid, change);
    const writes = [
      probing,
      isEnd && pod.status ? write('statuses', uid, pod.status) : undefined,
      allocations.keep(uid, view),
      keepEnd(change, isEnd),
    ].filter((each) => each !== undefined);
    return writes.length > 0 ? atMost(clock, Promise.all(writes)) : undefined;
  };
  return { keep, isEvidence: (uid) => !read.has(uid) || store.isUnwritten('statuses', uid) };
}

/**
 * Whether the next agent has to know how the pod ended. What the node refused it decides again when it starts again (C24),
 * and what is being removed it may run again if it is wanted again.
 */
const isFinal = ({ pod, view: { refused, termination } }: StatusChange): boolean =>
  isTerminalPhase(pod.status?.phase) && !refused && (termination === undefined || termination.stays === true);

type Write = (...fact: Parameters<NodeStore['write']>) => Promise<void>;

/** The results of the probes of each pod, written where they differ from what was. */
function keepProbes(durable: Pick<DurableFacts, 'probes'>, write: Write) {
  const written = new Map(Array.from(durable.probes, ([uid, results]) => [uid, JSON.stringify(results)]));
  return {
    forget: (uid: string) => void written.delete(uid),
    keep: (uid: string, view: PodView): Promise<void> | undefined => {
      const results = probedOf(view);
      const text = JSON.stringify(results);
      if (text === (written.get(uid) ?? '[]')) return undefined;
      written.set(uid, text);
      return write('probes', uid, results);
    },
  };
}

/**
 * Writes the ends of the containers of each pod that no API server has, when they have changed. The status of such a pod
 * has no other copy from which the next agent could report a run that the runtime has lost.
 */
function persistContainerEnds(durable: Pick<DurableFacts, 'containerEnds'>, write: Write) {
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
  const ended = lists.map((list) => [list, (status[list] ?? []).flatMap(endOf)] as const);
  return Object.fromEntries(ended.filter(([, statuses]) => statuses.length > 0));
}

/** Leaves out the state of a container that runs or waits, so that a change of that state alone writes nothing. */
function endOf(status: ContainerStatus): ContainerStatus[] {
  if (status.state?.terminated) return [status];
  if (!status.lastState?.terminated) return [];
  const { name, image, imageID, restartCount, lastState, containerID } = status;
  const id = containerID === undefined ? {} : { containerID };
  return [{ name, image, imageID, restartCount, state: {}, lastState, ready: false, ...id }];
}

/**
 * What of each pod was admitted. A status rests on it where it tells of another size than before; and the first one of a
 * pod, which tells its QoS class: whatever the manifest is when an agent starts again, that is the one of what was admitted.
 */
function keepAllocations({ allocations }: Pick<DurableFacts, 'allocations'>, write: Write) {
  const admitted = new Map<string, PodView>();
  const saved = new Set(allocations.keys());
  return {
    forget: (uid: string) => {
      admitted.delete(uid);
      saved.delete(uid);
    },
    keep: (uid: string, view: PodView): Promise<void> | undefined => {
      // Of a pod that ends from the start not even the spec may be known: what was kept of it is better.
      const known = admitted.get(uid);
      const isKept = known?.pod.spec === view.pod.spec && known.resizing === view.resizing;
      if (isKept || view.termination || view.refused || isUndecided(view)) return undefined;
      admitted.set(uid, view);
      const kept = write('allocations', uid, allocationOf(view.pod, view.resizing ? sizesOf(view) : undefined));
      return known === undefined && saved.has(uid) ? undefined : kept;
    },
  };
}

/** Resolves with the work, or when it has had its time. */
function atMost(clock: Clock, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, HOLD_MS);
    work.then(() => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
}

/** What the probes of the running containers have come to (C29). */
function probedOf({ pod, containers }: PodView): Probed[] {
  return containers.flatMap(({ name, containerId: id, now, started, ready }) => {
    const hasProbes = PROBES.some((kind) => probeOf(pod, name, kind) !== undefined);
    return hasProbes && id !== undefined && now.kind === 'running' ? [{ id, started, ready }] : [];
  });
}

const PROBES = ['startup', 'liveness', 'readiness'] as const;
