/**
 * The pod lifecycle event generator: brings in what the runtime shows. A relist of two calls finds every change,
 * however it was missed; events from the runtime's event stream only make it fast.
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
import type { CountedDeed } from '../countedDeed.ts';
import { readContainer } from '../services/containers/containerStatus.ts';
import type { FoundOfPod } from '../services/disk/touchedPods.ts';
import { tryRun } from '../withErrorHandler.ts';
import type { Relist } from './relist.ts';

/** How often the runtime is listed: rarely while its event stream is healthy. */
const RELIST_MS = 1_000;
const RELIST_WITH_STREAM_MS = 10_000;
/** How far apart lists are at least, however many events there are: many pods that end at once need no list each. */
const RELIST_APART_MS = 200;
/** When a container with an event is looked at again if the runtime does not show its end yet. */
const SECOND_LOOKS_MS = [10, 50, 250, 1_000];
const STREAM_RETRY_MS = 1_000;
const LIST_TIMEOUT_MS = 20_000;

export interface PlegOptions {
  readonly cri: Cri;
  /** Where containers leave their last words. */
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly send: (fact: NodeFact) => void;
  readonly onError: (source: string, error: unknown) => void;
  /** Told of each list. */
  readonly onRelisted?: ((relist: Relist) => void) | undefined;
  readonly deeds?: ((deed: CountedDeed) => void) | undefined;
  /** Called when the event stream breaks: the first sign that the runtime is away. */
  readonly onBreak: () => void;
  /**
   * Takes the pods that we made something of since it was called last. What the next list shows of them is told even if
   * it is what the list before had shown: something may have been made and lost between the two.
   */
  readonly takeTouched: () => readonly PodIdentity[];
  /**
   * Takes what the runtime was found to have since it was called last. A pod of which the list before had not shown that
   * is told as well: it believes that to exist, but no list may ever show it, as where it was removed meanwhile.
   */
  readonly takeFound: () => readonly FoundOfPod[];
  /** Whether we are stopping the container or sandbox ourselves: events of its end are no news. */
  readonly isBeingStopped: (id: string) => boolean;
}

/** Lists and listens until the signal aborts. */
export async function observeRuntime(options: PlegOptions): Promise<void> {
  const pleg = new Pleg(options);
  await Promise.all([pleg.listLoop(), pleg.eventLoop()]);
}

class Pleg {
  readonly #options: PlegOptions;
  readonly #alarm;
  /** What was told last, by pod; absent until the first list. */
  #known: Map<string, ObservedPod> | undefined;
  readonly #touched = new Map<string, PodIdentity>();
  /** Told whenever it changes. */
  #state = newPleg;
  readonly #steady: Clock;
  /** By the steady clock. */
  #listAt: number;
  #listedAt = Number.NEGATIVE_INFINITY;
  /** When the last list began that the runtime has answered, in milliseconds since the epoch. */
  #answeredAt: number | undefined;

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#steady = steadyClock(options.clock);
    this.#alarm = createAlarm(this.#steady, options.signal);
    this.#listAt = this.#steady.now();
  }

  async listLoop(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      if (this.#steady.now() < this.#listAt) {
        await this.#alarm.wait(this.#listAt);
        continue;
      }
      this.#listAt = Number.POSITIVE_INFINITY;
      const before = this.#listedAt;
      this.#listedAt = this.#steady.now();
      await this.#toldRelist(before);
      const period = this.#state.stream === 'open' ? RELIST_WITH_STREAM_MS : RELIST_MS;
      this.#listAt = Math.min(this.#listAt, this.#steady.now() + period);
    }
  }

  async eventLoop(): Promise<void> {
    const { cri, clock, signal, onError, onBreak } = this.#options;
    while (!signal.aborted) {
      // What happened before the stream opened is found by the list that follows its opening.
      const onOpen = () => {
        this.#count({ deed: 'eventStreamOpened' });
        this.#change({ type: 'streamOpened' });
        this.#relistSoon();
      };
      const why = await cri
        .containerEvents((event) => void this.#received(event), { signal, onOpen })
        .then(
          () => new NodeFailure('RuntimeUnavailable', 'the event stream has ended'),
          (error: unknown) => error,
        );
      if (signal.aborted) return;
      this.#count({ deed: 'eventStreamFailed' });
      const wasOpen = this.#state.stream === 'open';
      if (wasOpen) onError('containerEvents', why);
      this.#change({ type: 'streamBroke', failure: toFailure(why, clock.now()) });
      if (wasOpen) onBreak();
      this.#relistSoon();
      await waitOnce(clock.now() + STREAM_RETRY_MS, clock, signal);
    }
  }

  #received(event: RuntimeEvent): Promise<void> {
    const { createdAt } = event;
    if (createdAt !== undefined) {
      const latencyMs = Math.max(0, this.#options.clock.now() - createdAt);
      this.#count({ deed: 'runtimeEventReceived', latencyMs });
    }
    return this.#look(event);
  }

  #count(deed: CountedDeed): void {
    const { deeds, onError } = this.#options;
    if (deeds) tryRun('metrics', () => deeds(deed), onError);
  }

  #change(change: PlegChange): void {
    const { clock, send } = this.#options;
    const before = this.#state;
    this.#state = nextPleg(before, change, clock.now());
    if (this.#state !== before) send({ type: 'runtime.plegChanged', pleg: this.#state });
  }

  /** What could not be had is a matter of the next list; `staleSince` is when the last one was, if this was none. */
  #listed(failures: readonly unknown[], staleSince?: number): void {
    const { clock, signal, onError } = this.#options;
    if (signal.aborted) return;
    for (const each of failures) onError('relist', each);
    const [first] = failures;
    const failed = { type: 'listFailed', failure: toFailure(first, clock.now()), staleSince } as const;
    this.#change(failures.length > 0 ? failed : { type: 'listed' });
  }

  #relistSoon(): void {
    this.#listAt = Math.min(this.#listAt, Math.max(this.#steady.now(), this.#listedAt + RELIST_APART_MS));
    this.#alarm.ring();
  }

  async #toldRelist(before: number): Promise<void> {
    const { clock, signal, onError, onRelisted } = this.#options;
    const [at, begunAt] = [clock.now(), this.#listedAt];
    const isAnswered = await this.#relist();
    if (onRelisted === undefined || signal.aborted) return;
    const sinceLast = Number.isFinite(before) ? { sinceLastMs: begunAt - before } : {};
    const relist = { at, ms: this.#steady.now() - begunAt, ...sinceLast, isAnswered };
    tryRun('metrics', () => onRelisted(relist), onError);
  }

  /** Whether the runtime has answered. */
  async #relist(): Promise<boolean> {
    const { cri, clock, signal, send, takeTouched, takeFound } = this.#options;
    const unshown = takeFound().filter((found) => !this.#hasShown(found));
    for (const pod of [...takeTouched(), ...unshown.map(({ pod }) => pod)]) this.#touched.set(pod.uid, pod);
    const begunAt = clock.now();
    try {
      const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
      const [sandboxes, containers] = await Promise.all([
        cri.listPodSandbox({ filter: undefined }, options),
        cri.listContainers({ filter: undefined }, options),
      ]);
      this.#answeredAt = begunAt;
      const shown = observedPods(sandboxes.items, containers.containers);
      const { changed, unread } = await this.#changes(shown);
      if (signal.aborted) return true;
      if (changed.length > 0 || this.#known === undefined) {
        send({ type: 'runtime.podsObserved', pods: changed, at: clock.now() });
      }
      this.#listed(unread.map(({ error }) => error));
      this.#touched.clear();
      // What could not be read is read again by the next list, whether or not it differs then.
      for (const { pod } of unread) this.#touched.set(pod.uid, pod);
      const told = new Map(changed.map((pod) => [pod.uid, pod]));
      this.#known = new Map([...shown].map(([uid, pod]) => [uid, told.get(uid) ?? pod]));
      return true;
    } catch (error) {
      this.#listed([error], this.#answeredAt);
      return false;
    }
  }

  #hasShown({ id, pod }: FoundOfPod): boolean {
    const { sandboxes = [], containers = [] } = this.#known?.get(pod.uid) ?? {};
    return [...sandboxes, ...containers].some((shown) => shown.id === id);
  }

  /** The pods that differ from what was told last, with the ends of containers read in full, and those where one fails. */
  async #changes(shown: Map<string, ObservedPod>) {
    const known = this.#known ?? new Map<string, ObservedPod>();
    const changed = [...shown.values()].filter(
      (pod) => this.#touched.has(pod.uid) || signatureOf(pod) !== signatureOf(known.get(pod.uid)),
    );
    const gone = [...new Map([...this.#touched, ...known]).values()].filter(({ uid }) => !shown.has(uid));
    const unread: { readonly pod: ObservedPod; readonly error: unknown }[] = [];
    const read = async (pod: ObservedPod): Promise<ObservedPod[]> => {
      try {
        return [await this.#withEnds(pod, known.get(pod.uid))];
      } catch (error) {
        unread.push({ pod, error });
        // The first list must hold every pod, for what it lacks is recreated; ends are asked for again at the adoption.
        return this.#known === undefined ? [pod] : [];
      }
    };
    const full = (await Promise.all(changed.map(read))).flat();
    const ended = gone.map(({ uid, namespace, name }) => ({ uid, namespace, name, sandboxes: [], containers: [] }));
    return { changed: [...full, ...ended], unread };
  }

  async #withEnds(pod: ObservedPod, before: ObservedPod | undefined): Promise<ObservedPod> {
    const containers = await Promise.all(
      pod.containers.map(async (container) => {
        if (container.state !== 'exited') return container;
        const known = before?.containers.find(({ id, exitCode }) => id === container.id && exitCode !== undefined);
        return known ?? (await this.#inspect(container.id, container.sandboxId)) ?? container;
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

  /** An event can come before the runtime shows what it tells of: it is a reason to look, now and shortly again. */
  async #look({ containerId }: RuntimeEvent): Promise<void> {
    const { clock, signal, send, onError, isBeingStopped } = this.#options;
    try {
      for (const again of [...SECOND_LOOKS_MS, undefined]) {
        if (isBeingStopped(containerId)) return;
        const container = await this.#inspect(containerId, '');
        if (signal.aborted) return;
        if (container?.state === 'exited') return send({ type: 'runtime.containerSeen', container });
        // Not a container of a pod: a sandbox's own process. What its end means for the pod only a list shows.
        if (container === null && !(await this.#isSandboxReady(containerId))) return this.#relistSoon();
        if (again !== undefined) await waitOnce(clock.now() + again, clock, signal);
      }
    } catch (error) {
      if (!signal.aborted) onError('containerEvents', error);
    }
  }
}

/** What of a pod makes a difference: which sandboxes and containers there are, and their states. */
function signatureOf(pod: ObservedPod | undefined): string {
  if (pod === undefined) return '';
  return [...pod.sandboxes, ...pod.containers].map(({ id, state }) => `${id}:${state}`).join(' ');
}
