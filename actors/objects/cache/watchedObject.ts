/** Watches a single object (`util/manager/watch_based_manager.go` of the kubelet). */

import type { Clock } from '../../../base/time/clock.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { Reflector } from '../../../kubeclient/reflector.ts';
import { type ConfigObject, type ConfigReference, readConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { cacheSyncTimeout } from '../../../kubernetes/objects/podObjects.ts';
import {
  collectionPath,
  objectType,
  type TrackedObject,
  type TrackingListeners,
  waitForResponse,
} from './trackedObject.ts';

export interface WatchedObjectDependencies {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  /** Time for which an object that no volume contains is watched after it was last read, in milliseconds. */
  readonly idleMs: number;
}

/** Watches of single objects are numerous and mostly idle, so each lasts at least half an hour. */
const MIN_WATCH_SECONDS = 30 * 60;

export class WatchedObject implements TrackedObject {
  readonly #reference: ConfigReference;
  readonly #dependencies: WatchedObjectDependencies;
  readonly #listeners: TrackingListeners;
  #running: AbortController | undefined;
  /** Undefined until the server has responded. Null if the object does not exist. */
  #object: ConfigObject | null | undefined;
  /** The reason why the watch failed. The last received object remains valid. */
  #watchFailure = '';
  /** The reason why the existing object is invalid. */
  #problem = '';
  #lastReadAt: number;
  /** Resolves when the server has responded. */
  #response = Promise.withResolvers<void>();

  constructor(reference: ConfigReference, dependencies: WatchedObjectDependencies, listeners: TrackingListeners) {
    this.#reference = reference;
    this.#dependencies = dependencies;
    this.#listeners = listeners;
    this.#lastReadAt = dependencies.clock.monotonic();
    this.#startWatch();
  }

  async read({ signal }: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined> {
    this.#lastReadAt = this.#dependencies.clock.monotonic();
    if (this.#running === undefined && this.#object?.isImmutable !== true) this.#startWatch();
    if (this.#object === undefined)
      await waitForResponse(this.#response.promise, { clock: this.#dependencies.clock, signal });
    if (this.#object === undefined) throw new Error(this.#unknownMessage());
    if (this.#object !== null) return this.#object;
    if (this.#problem !== '') throw new Error(this.#problem);
    return undefined;
  }

  invalidate(): void {}

  refresh(isShown: boolean): void {
    const idleMs = this.#dependencies.clock.monotonic() - this.#lastReadAt;
    // A missing object that a pod waits for is watched until it exists.
    if (isShown || !this.#object || idleMs < this.#dependencies.idleMs) return;
    this.close();
    this.#object = undefined;
    this.#response = Promise.withResolvers();
  }

  close(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  #startWatch(): void {
    const running = new AbortController();
    this.#running = running;
    const { client, clock, jitter } = this.#dependencies;
    const { name, kind } = this.#reference;
    const ifRunning =
      <T>(act: (value: T) => void) =>
      (value: T) => {
        if (!running.signal.aborted) act(value);
      };
    const reflector = new Reflector<ConfigObject>({
      client,
      clock,
      jitter,
      signal: running.signal,
      minWatchSeconds: MIN_WATCH_SECONDS,
      path: collectionPath(this.#reference),
      type: objectType(this.#reference),
      query: { fieldSelector: `metadata.name=${name}` },
      transform: (object) => readConfigObject(kind, object),
      onSet: ifRunning(([object]: readonly ConfigObject[]) => this.#onObject(object)),
      onStep: ifRunning((step) => {
        if (step.state === 'failing') this.#watchFailure = step.failure;
        this.#listeners.onStep(step);
      }),
      onProblem: ifRunning((problem) => {
        this.#problem = problem;
      }),
    });
    void reflector.run();
  }

  #onObject(object: ConfigObject | undefined): void {
    this.#object = object ?? null;
    if (object !== undefined) this.#problem = '';
    this.#watchFailure = '';
    this.#response.resolve();
    this.#listeners.onObject(object);
    if (object?.isImmutable) this.close();
  }

  /** Returns the kubelet's message for an object whose existence is unknown, with the cause appended. */
  #unknownMessage(): string {
    const timeoutMessage = cacheSyncTimeout(this.#reference.kind);
    return this.#watchFailure === '' ? timeoutMessage : `${timeoutMessage} (${this.#watchFailure})`;
  }
}
