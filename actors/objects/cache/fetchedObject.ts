/** Fetches an object on demand (`util/manager/cache_based_manager.go` of the kubelet). */

import { messageOf } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { KubeError, summarizeError } from '../../../kubeclient/kubeError.ts';
import { type ConfigObject, type ConfigReference, readConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { cacheSyncTimeout } from '../../../kubernetes/objects/podObjects.ts';
import {
  collectionPath,
  objectType,
  type TrackedObject,
  type TrackingListeners,
  waitForResponse,
} from './trackedObject.ts';

export interface FetchedObjectDependencies {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  /** Returns how long a response may be reused, in milliseconds. With 0, every read sends a request. */
  readonly ttlMs: () => number;
  /** Interval at which objects in volumes are refreshed, in milliseconds. */
  readonly refreshMs: number;
}

const NOT_FOUND_STATUS = 404;

export class FetchedObject implements TrackedObject {
  readonly #reference: ConfigReference;
  readonly #dependencies: FetchedObjectDependencies;
  readonly #listeners: TrackingListeners;
  /** Null if the object does not exist. */
  #object: ConfigObject | null | undefined;
  /** Monotonic time of the last request whose response is reusable. Undefined if the object must be fetched again. */
  #lastRequestAt: number | undefined;
  #request: Promise<void> | undefined;
  #invalidationCount = 0;
  /**
   * The value of `#invalidationCount` when the request for the last accepted response was sent. Responses to earlier
   * requests are ignored.
   */
  #respondedInvalidations = 0;
  readonly #closeController = new AbortController();
  #lastRefreshAt: number;

  constructor(reference: ConfigReference, dependencies: FetchedObjectDependencies, listeners: TrackingListeners) {
    this.#reference = reference;
    this.#dependencies = dependencies;
    this.#listeners = listeners;
    this.#lastRefreshAt = dependencies.clock.monotonic();
  }

  async read({ signal }: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined> {
    signal.throwIfAborted();
    if (!this.#isFresh()) {
      this.#request ??= this.#startFetch();
      await waitForResponse(this.#request, { clock: this.#dependencies.clock, signal });
    }
    if (this.#object === undefined) throw new Error(cacheSyncTimeout(this.#reference.kind));
    return this.#object ?? undefined;
  }

  /** Invalidates the last response and the response to any request in flight, because both may predate this call. */
  invalidate(): void {
    this.#invalidationCount += 1;
    this.#lastRequestAt = undefined;
    this.#request = undefined;
  }

  refresh(isShown: boolean): void {
    const { clock, refreshMs } = this.#dependencies;
    const now = clock.monotonic();
    if (!isShown || now - this.#lastRefreshAt < refreshMs) return;
    this.#lastRefreshAt = now;
    // Ignore the rejection, because the listeners are notified of failures.
    this.read({ signal: this.#closeController.signal }).catch(() => {});
  }

  close(): void {
    this.#closeController.abort();
  }

  #isFresh(): boolean {
    const { clock, ttlMs } = this.#dependencies;
    return (
      this.#object != null && this.#lastRequestAt !== undefined && clock.monotonic() - this.#lastRequestAt < ttlMs()
    );
  }

  #startFetch(): Promise<void> {
    const pendingFetch = this.#fetch(this.#invalidationCount).finally(() => {
      if (this.#request === pendingFetch) this.#request = undefined;
    });
    return pendingFetch;
  }

  async #fetch(invalidation: number): Promise<void> {
    const { client } = this.#dependencies;
    const { kind, name } = this.#reference;
    const { signal } = this.#closeController;
    // A refresh may be served from the API server's watch cache. The first request, and the first one after an
    // invalidation, must return the latest version.
    const version = this.#lastRequestAt !== undefined && this.#object != null ? '?resourceVersion=0' : '';
    try {
      const path = `${collectionPath(this.#reference)}/${encodeURIComponent(name)}${version}`;
      const object = readConfigObject(kind, await client.get(path, { signal, type: objectType(this.#reference) }));
      if (!isOlderVersion(object, this.#object)) this.#onResponse(object, invalidation);
    } catch (error) {
      if (error instanceof KubeError && error.code === NOT_FOUND_STATUS) return this.#onResponse(null, invalidation);
      this.#listeners.onStep({ state: 'failing', failure: messageOf(error), why: summarizeError(error) });
      // On failure, retain the last response, even if it states that the object does not exist.
      if (this.#object === undefined) throw error;
    }
  }

  #onResponse(object: ConfigObject | null, invalidation: number): void {
    if (invalidation < this.#respondedInvalidations) return;
    this.#respondedInvalidations = invalidation;
    this.#object = object;
    if (invalidation === this.#invalidationCount) this.#lastRequestAt = this.#dependencies.clock.monotonic();
    this.#listeners.onStep({ state: 'watching' });
    this.#listeners.onObject(object ?? undefined);
  }
}

/**
 * Whether a version is older than the cached version of the same object. Versions of different objects are not
 * comparable.
 */
const isOlderVersion = (object: ConfigObject, existing: ConfigObject | null | undefined): boolean =>
  existing?.uid === object.uid && Number(object.resourceVersion) < Number(existing.resourceVersion);
