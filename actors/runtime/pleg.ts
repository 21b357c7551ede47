/**
 * The pod lifecycle event generator reports changes of the runtime's sandboxes and containers. A relist, which takes
 * two calls, finds every change even if events were missed. The runtime's event stream only speeds this up.
 */

import { type Clock, steadyClock } from '../../base/clock.ts';
import { NodeFailure, toFailure } from '../../base/failure.ts';
import type { Cri, RuntimeEvent } from '../../cri/client/calls.ts';
import { observedPods } from '../../cri/client/observe.ts';
import { PodSandboxState } from '../../cri/generated/runtime.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { ObservedContainer, ObservedPod, PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { newPleg, nextPleg, type PlegChange } from '../../machines/node/pleg.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { createAlarm, waitOnce } from '../alarm.ts';
import type { ServiceAction } from '../serviceAction.ts';
import { readContainer } from '../services/containers/containerStatus.ts';
import type { FoundObject } from '../services/disk/changeTracker.ts';
import { tryRun } from '../withErrorHandler.ts';
import type { Relist, RelistRequests } from './relist.ts';

/** Interval between relists while the event stream is not open. With an open stream, relists are rarer. */
const RELIST_MS = 1_000;
const RELIST_WITH_STREAM_MS = 10_000;
/** Minimum interval between relists. Prevents many pods that terminate at once from causing a relist each. */
const MIN_RELIST_INTERVAL_MS = 200;
/** Delays before a container with an event is inspected again, if the runtime does not report its exit yet. */
const REINSPECT_DELAYS_MS = [10, 50, 250, 1_000];
const STREAM_RETRY_MS = 1_000;
const LIST_TIMEOUT_MS = 20_000;

export interface PlegOptions {
  readonly cri: Cri;
  /** The file system that contains the containers' termination messages. */
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly send: (fact: NodeFact) => void;
  readonly onError: (source: string, error: unknown) => void;
  readonly onRelisted?: ((relist: Relist) => void) | undefined;
  /** Requests for a relist, which do not wait until the next regular relist. */
  readonly relistRequests?: RelistRequests;
  readonly serviceActions?: ((action: ServiceAction) => void) | undefined;
  /** Called when the event stream breaks, which is the first sign of a runtime outage. */
  readonly onStreamBroken: () => void;
  /**
   * Returns and clears the pods that the agent has changed since the last call. The next relist reports them even if
   * they look the same as before, because an object may have been created and lost in between.
   */
  readonly takeChanged: () => readonly PodIdentity[];
  /**
   * Returns and clears the objects that calls have found in the runtime since the last call. If the previous relist did
   * not list such an object, its pod is reported again. Otherwise the pod's actors would assume that the object exists
   * although no relist may ever list it, e.g. because it has been removed.
   */
  readonly takeFound: () => readonly FoundObject[];
  /** Whether the agent is stopping the container or sandbox itself. Events about its exit are then ignored. */
  readonly isBeingStopped: (id: string) => boolean;
}

export async function observeRuntime(options: PlegOptions): Promise<void> {
  const pleg = new Pleg(options);
  await Promise.all([pleg.listLoop(), pleg.eventLoop()]);
}

class Pleg {
  readonly #options: PlegOptions;
  readonly #alarm;
  /** The pods as last reported. Undefined until the first relist. */
  #reported: Map<string, ObservedPod> | undefined;
  readonly #changed = new Map<string, PodIdentity>();
  /** State of the PLEG, reported whenever it changes. */
  #state = newPleg;
  readonly #steady: Clock;
  /** Time of the next relist on the monotonic clock. */
  #listAt: number;
  #listedAt = Number.NEGATIVE_INFINITY;
  /** Start of the last relist to which the runtime has responded, in milliseconds since the epoch. */
  #respondedAt: number | undefined;

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#steady = steadyClock(options.clock);
    this.#alarm = createAlarm(this.#steady, options.signal);
    this.#listAt = this.#steady.now();
    if (options.relistRequests) options.relistRequests.onRequest = () => this.#relistSoon();
  }

  async listLoop(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      if (this.#steady.now() < this.#listAt) {
        await this.#alarm.wait(this.#listAt);
        continue;
      }
      this.#listAt = Number.POSITIVE_INFINITY;
      const previous = this.#listedAt;
      this.#listedAt = this.#steady.now();
      await this.#timedRelist(previous);
      const period = this.#state.stream === 'open' ? RELIST_WITH_STREAM_MS : RELIST_MS;
      this.#listAt = Math.min(this.#listAt, this.#steady.now() + period);
    }
  }

  async eventLoop(): Promise<void> {
    const { cri, clock, signal, onError, onStreamBroken } = this.#options;
    while (!signal.aborted) {
      // A relist after the stream opens finds changes from before.
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
      const wasOpen = this.#state.stream === 'open';
      if (wasOpen) onError('containerEvents', reason);
      this.#updateState({ type: 'streamBroke', failure: toFailure(reason, clock.now()) });
      if (wasOpen) onStreamBroken();
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
    const { serviceActions, onError } = this.#options;
    if (serviceActions) tryRun('metrics', () => serviceActions(action), onError);
  }

  #updateState(change: PlegChange): void {
    const { clock, send } = this.#options;
    const before = this.#state;
    this.#state = nextPleg(before, change, clock.now());
    if (this.#state !== before) send({ type: 'runtime.plegChanged', pleg: this.#state });
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
    const failed = { type: 'listFailed', failure: toFailure(first, clock.now()), staleSince } as const;
    this.#updateState(failures.length > 0 ? failed : { type: 'listed' });
  }

  #relistSoon(): void {
    this.#listAt = Math.min(this.#listAt, Math.max(this.#steady.now(), this.#listedAt + MIN_RELIST_INTERVAL_MS));
    this.#alarm.ring();
  }

  async #timedRelist(previous: number): Promise<void> {
    const { clock, signal, onError, onRelisted, relistRequests } = this.#options;
    const callbacks = relistRequests?.takeCallbacks() ?? [];
    const [at, startedAt] = [clock.now(), this.#listedAt];
    const isAnswered = await this.#relist();
    // The facts that the relist has sent take effect before the next task.
    for (const callback of callbacks) clock.setTimeout(() => callback(isAnswered && !signal.aborted), 0);
    if (onRelisted === undefined || signal.aborted) return;
    const sinceLast = Number.isFinite(previous) ? { sinceLastMs: startedAt - previous } : {};
    const relist = { at, ms: this.#steady.now() - startedAt, ...sinceLast, isAnswered };
    tryRun('metrics', () => onRelisted(relist), onError);
  }

  /** Relists the pods and returns whether the runtime has responded. */
  async #relist(): Promise<boolean> {
    const { cri, clock, signal, send, takeChanged, takeFound } = this.#options;
    const unlisted = takeFound().filter((found) => !this.#hasShown(found));
    for (const pod of [...takeChanged(), ...unlisted.map(({ pod }) => pod)]) this.#changed.set(pod.uid, pod);
    const startedAt = clock.now();
    try {
      const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
      const [sandboxes, containers] = await Promise.all([
        cri.listPodSandbox({ filter: undefined }, options),
        cri.listContainers({ filter: undefined }, options),
      ]);
      this.#respondedAt = startedAt;
      const shown = observedPods(sandboxes.items, containers.containers);
      const { changed, unreadable } = await this.#readChanges(shown);
      if (signal.aborted) return true;
      if (changed.length > 0 || this.#reported === undefined) {
        send({ type: 'runtime.podsObserved', pods: changed, at: clock.now() });
      }
      this.#reportList(unreadable.map(({ error }) => error));
      this.#changed.clear();
      // Read failed pods again at the next relist, whether or not they have changed.
      for (const { pod } of unreadable) this.#changed.set(pod.uid, pod);
      const changedByUid = new Map(changed.map((pod) => [pod.uid, pod]));
      this.#reported = new Map([...shown].map(([uid, pod]) => [uid, changedByUid.get(uid) ?? pod]));
      return true;
    } catch (error) {
      this.#reportList([error], this.#respondedAt);
      return false;
    }
  }

  #hasShown({ id, pod }: FoundObject): boolean {
    const { sandboxes = [], containers = [] } = this.#reported?.get(pod.uid) ?? {};
    return [...sandboxes, ...containers].some((shown) => shown.id === id);
  }

  /**
   * Returns the pods that differ from the last reported ones, including the full status of exited containers, and the
   * pods for which reading a status failed.
   */
  async #readChanges(shown: Map<string, ObservedPod>) {
    const reported = this.#reported ?? new Map<string, ObservedPod>();
    const changed = [...shown.values()].filter(
      (pod) => this.#changed.has(pod.uid) || signature(pod) !== signature(reported.get(pod.uid)),
    );
    const gone = [...new Map([...this.#changed, ...reported]).values()].filter(({ uid }) => !shown.has(uid));
    const unreadable: { readonly pod: ObservedPod; readonly error: unknown }[] = [];
    const read = async (pod: ObservedPod): Promise<ObservedPod[]> => {
      try {
        return [await this.#withExitStatuses(pod, reported.get(pod.uid))];
      } catch (error) {
        unreadable.push({ pod, error });
        // The first relist must include every pod, because missing ones would be recreated. Their exits are read again
        // during adoption.
        return this.#reported === undefined ? [pod] : [];
      }
    };
    const statuses = (await Promise.all(changed.map(read))).flat();
    const removed = gone.map(({ uid, namespace, name }) => ({ uid, namespace, name, sandboxes: [], containers: [] }));
    return { changed: [...statuses, ...removed], unreadable };
  }

  async #withExitStatuses(pod: ObservedPod, before: ObservedPod | undefined): Promise<ObservedPod> {
    const containers = await Promise.all(
      pod.containers.map(async (container) => {
        if (container.state !== 'exited') return container;
        const previous = before?.containers.find(({ id, exitCode }) => id === container.id && exitCode !== undefined);
        return previous ?? (await this.#inspect(container.id, container.sandboxId)) ?? container;
      }),
    );
    return { ...pod, containers };
  }

  #inspect(id: string, sandboxId: string): Promise<ObservedContainer | null> {
    const { cri, files, signal } = this.#options;
    return readContainer({ cri, files }, { id, sandboxId }, { signal, timeoutMs: LIST_TIMEOUT_MS });
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
   * Inspects a container after an event, and again after short delays, because an event can arrive before the runtime's
   * status reflects the change.
   */
  async #inspectAfterEvent({ containerId }: RuntimeEvent): Promise<void> {
    const { clock, signal, send, onError, isBeingStopped } = this.#options;
    try {
      for (const delayMs of [...REINSPECT_DELAYS_MS, undefined]) {
        if (isBeingStopped(containerId)) return;
        const container = await this.#inspect(containerId, '');
        if (signal.aborted) return;
        if (container?.state === 'exited') return send({ type: 'runtime.containerSeen', container });
        // The event does not concern a container but the process of a sandbox. Only a relist reveals the consequences
        // of its exit for the pod.
        if (container === null && !(await this.#isSandboxReady(containerId))) return this.#relistSoon();
        if (delayMs !== undefined) await waitOnce(clock.now() + delayMs, clock, signal);
      }
    } catch (error) {
      if (!signal.aborted) onError('containerEvents', error);
    }
  }
}

/** Returns a string that changes with the pod's sandboxes, containers, or their states. */
function signature(pod: ObservedPod | undefined): string {
  if (pod === undefined) return '';
  return [...pod.sandboxes, ...pod.containers].map(({ id, state }) => `${id}:${state}`).join(' ');
}
