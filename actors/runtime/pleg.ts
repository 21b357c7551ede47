/**
 * The pod lifecycle event generator reports changes of the runtime's sandboxes and containers. A relist, which takes
 * two calls, finds every change even if events were missed. The runtime's event stream only speeds this up.
 */

import { NodeFailure, toFailure } from '../../base/failure.ts';
import { type Clock, steadyClock } from '../../base/time/clock.ts';
import { memoize } from '../../base/values/memoize.ts';
import type { Cri, RuntimeEvent } from '../../cri/client/calls.ts';
import { groupIntoPods } from '../../cri/client/observe.ts';
import { PodSandboxState } from '../../cri/generated/runtime.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { ObservedContainer, ObservedPod, PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { initialPleg, nextPlegState, type PlegChange } from '../../machines/node/runtime/pleg.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { createAlarm, waitOnce } from '../alarm.ts';
import type { FindOomKill } from '../feeds/oomWatcher.ts';
import type { ServiceAction } from '../serviceAction.ts';
import { readContainer } from '../services/containers/readContainer.ts';
import type { FoundObject } from '../services/disk/changeTracker.ts';
import { tryRun } from '../withErrorHandler.ts';
import type { RelistRequests, RelistStats } from './relistRequests.ts';

/** Interval between relists while the event stream is not open. With an open stream, relists are less frequent. */
const RELIST_MS = 1_000;
const RELIST_WITH_STREAM_MS = 10_000;
/** Minimum interval between relists. Prevents a separate relist for each of many pods that terminate at once. */
const MIN_RELIST_INTERVAL_MS = 200;
/**
 * Delays before a container is inspected again after an event, if the runtime does not report the container's exit yet.
 */
const REINSPECT_DELAYS_MS = [10, 50, 250, 1_000];
const STREAM_RETRY_MS = 1_000;
const LIST_TIMEOUT_MS = 20_000;

export interface PlegOptions {
  readonly cri: Cri;
  /** The file system that contains the containers' termination messages. */
  readonly files: FileSystem;
  readonly findOomKill?: FindOomKill | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly sendFact: (fact: NodeFact) => void;
  readonly onError: (source: string, error: unknown) => void;
  readonly onRelisted?: ((relist: RelistStats) => void) | undefined;
  /** Requests for an immediate relist, ahead of the next periodic one. */
  readonly relistRequests?: RelistRequests;
  readonly onServiceAction?: ((action: ServiceAction) => void) | undefined;
  /** Called when the event stream breaks, which is the first sign of a runtime outage. */
  readonly onStreamBroken: () => void;
  /**
   * Returns the pods that the agent has changed since the last call, and clears the list of them. The next relist
   * reports them even if they look the same as before, because an object may have been created and lost in between.
   */
  readonly takeChanged: () => readonly PodIdentity[];
  /**
   * Returns the objects that calls have found in the runtime since the last call, and clears the list of them. If the
   * previous relist did not list such an object, its pod is reported again. Without this report, the pod's actors would
   * assume that the object exists although no relist may ever list it, e.g. because it has been removed.
   */
  readonly takeFound: () => readonly FoundObject[];
  /** Whether the agent itself is stopping the container or sandbox. Events about its exit are then ignored. */
  readonly isBeingStopped: (id: string) => boolean;
}

export async function observeRuntime(options: PlegOptions): Promise<void> {
  const pleg = new Pleg(options);
  await Promise.all([pleg.listLoop(), pleg.eventLoop()]);
}

class Pleg {
  readonly #options: PlegOptions;
  readonly #alarm;
  /** The last reported pods. Undefined until the first relist. */
  #lastReported: Map<string, ObservedPod> | undefined;
  readonly #changedPods = new Map<string, PodIdentity>();
  /** State of the PLEG, reported whenever it changes. */
  #state = initialPleg;
  readonly #steadyClock: Clock;
  /** Monotonic time of the next relist. */
  #nextListAt: number;
  #lastListAt = Number.NEGATIVE_INFINITY;
  /** Start of the last relist to which the runtime has responded, in milliseconds since the epoch. */
  #lastResponseAt: number | undefined;

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#steadyClock = steadyClock(options.clock);
    this.#alarm = createAlarm(this.#steadyClock, options.signal);
    this.#nextListAt = this.#steadyClock.now();
    if (options.relistRequests) options.relistRequests.onRequest = () => this.#relistSoon();
  }

  async listLoop(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      if (this.#steadyClock.now() < this.#nextListAt) {
        await this.#alarm.waitUntil(this.#nextListAt);
        continue;
      }
      this.#nextListAt = Number.POSITIVE_INFINITY;
      const previousListAt = this.#lastListAt;
      this.#lastListAt = this.#steadyClock.now();
      await this.#relistWithStats(previousListAt);
      const relistPeriodMs = this.#state.stream === 'open' ? RELIST_WITH_STREAM_MS : RELIST_MS;
      this.#nextListAt = Math.min(this.#nextListAt, this.#steadyClock.now() + relistPeriodMs);
    }
  }

  async eventLoop(): Promise<void> {
    const { cri, clock, signal, onError, onStreamBroken } = this.#options;
    while (!signal.aborted) {
      // Relist once the stream is open, to detect the changes that occurred while it was closed.
      const onOpen = () => {
        this.#count({ action: 'eventStreamOpened' });
        this.#updateState({ type: 'streamOpened' });
        this.#relistSoon();
      };
      const reason = await cri
        .containerEvents((event) => void this.#onEvent(event), { signal, onOpen })
        .then(
          () => new NodeFailure('RuntimeUnavailable', 'the event stream has ended'),
          (error: unknown) => error,
        );
      if (signal.aborted) return;
      this.#count({ action: 'eventStreamFailed' });
      const wasStreamOpen = this.#state.stream === 'open';
      if (wasStreamOpen) onError('containerEvents', reason);
      this.#updateState({ type: 'streamBroke', failure: toFailure(reason, clock.now()) });
      if (wasStreamOpen) onStreamBroken();
      this.#relistSoon();
      await waitOnce(clock.now() + STREAM_RETRY_MS, clock, signal);
    }
  }

  #onEvent(event: RuntimeEvent): Promise<void> {
    const { createdAt } = event;
    if (createdAt !== undefined) {
      const latencyMs = Math.max(0, this.#options.clock.now() - createdAt);
      this.#count({ action: 'runtimeEventReceived', latencyMs });
    }
    return this.#inspectAfterEvent(event);
  }

  #count(action: ServiceAction): void {
    const { onServiceAction, onError } = this.#options;
    if (onServiceAction) tryRun('metrics', () => onServiceAction(action), onError);
  }

  #updateState(change: PlegChange): void {
    const { clock, sendFact } = this.#options;
    const previousState = this.#state;
    this.#state = nextPlegState(previousState, change, clock.now());
    if (this.#state !== previousState) sendFact({ type: 'runtime.plegChanged', pleg: this.#state });
  }

  /**
   * Reports the result of a relist. The next relist retries the failed calls. If the whole relist has failed,
   * `staleSince` is the time of the last successful one.
   */
  #reportList(failures: readonly unknown[], staleSince?: number): void {
    const { clock, signal, onError } = this.#options;
    if (signal.aborted) return;
    for (const each of failures) onError('relist', each);
    const [first] = failures;
    const listFailure = { type: 'listFailed', failure: toFailure(first, clock.now()), staleSince } as const;
    this.#updateState(failures.length > 0 ? listFailure : { type: 'listed' });
  }

  #relistSoon(): void {
    this.#nextListAt = Math.min(
      this.#nextListAt,
      Math.max(this.#steadyClock.now(), this.#lastListAt + MIN_RELIST_INTERVAL_MS),
    );
    this.#alarm.ring();
  }

  async #relistWithStats(previous: number): Promise<void> {
    const { clock, signal, onError, onRelisted, relistRequests } = this.#options;
    const relistCallbacks = relistRequests?.takeCallbacks() ?? [];
    const [at, startedAt] = [clock.now(), this.#lastListAt];
    const hasResponded = await this.#relistPods();
    // Run the callbacks in the next task of the event loop, because the facts from the relist take effect before that
    // task.
    for (const callback of relistCallbacks) clock.setTimeout(() => callback(hasResponded && !signal.aborted), 0);
    if (onRelisted === undefined || signal.aborted) return;
    const intervalFields = Number.isFinite(previous) ? { sinceLastMs: startedAt - previous } : {};
    const relistStats = { at, ms: this.#steadyClock.now() - startedAt, ...intervalFields, hasResponded };
    tryRun('metrics', () => onRelisted(relistStats), onError);
  }

  /** Relists the pods and returns whether the runtime has responded. */
  async #relistPods(): Promise<boolean> {
    const { cri, clock, signal, sendFact, takeChanged, takeFound } = this.#options;
    const unlistedObjects = takeFound().filter((object) => !this.#hasReported(object));
    for (const pod of [...takeChanged(), ...unlistedObjects.map(({ pod }) => pod)]) this.#changedPods.set(pod.uid, pod);
    const startedAt = clock.now();
    try {
      const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
      const [sandboxes, containers] = await Promise.all([
        cri.listPodSandbox({ filter: undefined }, options),
        cri.listContainers({ filter: undefined }, options),
      ]);
      this.#lastResponseAt = startedAt;
      const observedByUid = groupIntoPods(sandboxes.items, containers.containers);
      const { changed, unreadable } = await this.#readChanges(observedByUid);
      if (signal.aborted) return true;
      if (changed.length > 0 || this.#lastReported === undefined) {
        sendFact({ type: 'runtime.podsObserved', pods: changed, at: clock.now() });
      }
      this.#reportList(unreadable.map(({ error }) => error));
      this.#changedPods.clear();
      // Mark the pods whose status could not be read as changed, so that the next relist reads them again.
      for (const { pod } of unreadable) this.#changedPods.set(pod.uid, pod);
      const changedByUid = new Map(changed.map((pod) => [pod.uid, pod]));
      this.#lastReported = new Map([...observedByUid].map(([uid, pod]) => [uid, changedByUid.get(uid) ?? pod]));
      return true;
    } catch (error) {
      this.#reportList([error], this.#lastResponseAt);
      return false;
    }
  }

  #hasReported({ id, pod }: FoundObject): boolean {
    const lastReported = this.#lastReported?.get(pod.uid);
    return lastReported !== undefined && objectIds(lastReported).has(id);
  }

  /**
   * Returns the pods that differ from the last reported ones, including the full status of exited containers, and the
   * pods for which reading a status failed.
   */
  async #readChanges(observedByUid: Map<string, ObservedPod>) {
    const previouslyReported = this.#lastReported ?? new Map<string, ObservedPod>();
    const changedPods = [...observedByUid.values()].filter(
      (pod) => this.#changedPods.has(pod.uid) || podSignature(pod) !== podSignature(previouslyReported.get(pod.uid)),
    );
    const removedPods = [...new Map([...this.#changedPods, ...previouslyReported]).values()].filter(
      ({ uid }) => !observedByUid.has(uid),
    );
    const unreadablePods: { readonly pod: ObservedPod; readonly error: unknown }[] = [];
    const readPod = async (pod: ObservedPod): Promise<ObservedPod[]> => {
      try {
        return [await this.#withExitStatuses(pod, previouslyReported.get(pod.uid))];
      } catch (error) {
        unreadablePods.push({ pod, error });
        // The first relist must include every pod, because the agent would recreate a missing one. The exit statuses
        // are read again during the pod's adoption.
        return this.#lastReported === undefined ? [pod] : [];
      }
    };
    const statuses = (await Promise.all(changedPods.map(readPod))).flat();
    const removalReports = removedPods.map(({ uid, namespace, name }) => ({
      uid,
      namespace,
      name,
      sandboxes: [],
      containers: [],
    }));
    return { changed: [...statuses, ...removalReports], unreadable: unreadablePods };
  }

  async #withExitStatuses(pod: ObservedPod, before: ObservedPod | undefined): Promise<ObservedPod> {
    const exitedBefore = before && exitedContainers(before);
    const containers = await Promise.all(
      pod.containers.map(async (container) => {
        if (container.state !== 'exited') return container;
        return exitedBefore?.get(container.id) ?? (await this.#inspect(container.id, container.sandboxId)) ?? container;
      }),
    );
    return { ...pod, containers };
  }

  #inspect(id: string, sandboxId: string): Promise<ObservedContainer | null> {
    const { signal } = this.#options;
    return readContainer(this.#options, { id, sandboxId }, { signal, timeoutMs: LIST_TIMEOUT_MS });
  }

  async #isSandboxReady(podSandboxId: string): Promise<boolean> {
    const { cri, signal } = this.#options;
    try {
      const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
      const { status } = await cri.podSandboxStatus({ podSandboxId, verbose: false }, options);
      return status?.state === PodSandboxState.SANDBOX_READY;
    } catch (error) {
      if (error instanceof NodeFailure && error.reason === 'NotFound') return false;
      throw error;
    }
  }

  /**
   * Inspects a container after an event, and again after short delays, because the event can arrive before the
   * runtime's status reflects the change.
   */
  async #inspectAfterEvent({ containerId }: RuntimeEvent): Promise<void> {
    const { clock, signal, sendFact, onError, isBeingStopped: isStopping } = this.#options;
    try {
      for (const delayMs of [...REINSPECT_DELAYS_MS, undefined]) {
        if (isStopping(containerId)) return;
        const container = await this.#inspect(containerId, '');
        if (signal.aborted) return;
        if (container?.state === 'exited') return sendFact({ type: 'runtime.containerSeen', container });
        // The event concerns a sandbox's process, not a container. Only a relist reveals the consequences of its exit
        // for the pod.
        if (container === null && !(await this.#isSandboxReady(containerId))) return this.#relistSoon();
        if (delayMs !== undefined) await waitOnce(clock.now() + delayMs, clock, signal);
      }
    } catch (error) {
      if (!signal.aborted) onError('containerEvents', error);
    }
  }
}

/** Returns the IDs of a pod's sandboxes and containers. */
const objectIds = memoize(
  ({ sandboxes, containers }: ObservedPod): ReadonlySet<string> =>
    new Set([...sandboxes, ...containers].map(({ id }) => id)),
);

/** Returns the containers whose exit status has been read, by ID. */
const exitedContainers = (pod: ObservedPod): ReadonlyMap<string, ObservedContainer> =>
  new Map(pod.containers.flatMap((container) => (container.exitCode === undefined ? [] : [[container.id, container]])));

/** Returns a string that changes with the pod's sandboxes, containers, or their states. */
function podSignature(pod: ObservedPod | undefined): string {
  if (pod === undefined) return '';
  return [...pod.sandboxes, ...pod.containers].map(({ id, state }) => `${id}:${state}`).join(' ');
}
