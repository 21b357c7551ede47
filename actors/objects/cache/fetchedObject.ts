/** Fetches an object on demand (`util/manager/cache_based_manager.go` of the kubelet). */

import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { errorSummary, KubeError } from '../../../kubeclient/kubeError.ts';
import { type ConfigObject, type ConfigReference, readConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { cacheSyncTimeout } from '../../../kubernetes/objects/podObjects.ts';
import {
  collectionPath,
  type TrackedObject,
  type TrackingListeners,
  typeOf,
  waitForResponse,
} from './trackedObject.ts';

export interface FetchedParts {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  /** Returns how long a response may be reused, in milliseconds. With 0, every read is a request. */
  readonly ttlMs: () => number;
  /** Interval at which objects in volumes are refreshed, in milliseconds. */
  readonly refreshMs: number;
}

const NOT_FOUND = 404;

export class FetchedObject implements TrackedObject {
  readonly #reference: ConfigReference;
  readonly #parts: FetchedParts;
  readonly #listeners: TrackingListeners;
  /** Null if the object does not exist. */
  #object: ConfigObject | null | undefined;
  /**
   * Time of the last request whose response is reusable, on the monotonic clock. Undefined if the object must be
   * fetched again.
   */
  #requestedAt: number | undefined;
  #request: Promise<void> | undefined;
  /** Number of invalidations so far. */
  #invalidations = 0;
  /** Number of invalidations before the request of the last response. Responses to requests with fewer are ignored. */
  #respondedTo = 0;
  readonly #closed = new AbortController();
  #refreshedAt: number;

  constructor(reference: ConfigReference, parts: FetchedParts, listeners: TrackingListeners) {
    this.#reference = reference;
    this.#parts = parts;
    this.#listeners = listeners;
    this.#refreshedAt = parts.clock.monotonic();
  }

  async read({ signal }: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined> {
    signal.throwIfAborted();
    if (!this.#isFresh()) {
      this.#request ??= this.#start();
      await waitForResponse(this.#request, { clock: this.#parts.clock, signal });
    }
    if (this.#object === undefined) throw new Error(cacheSyncTimeout(this.#reference.kind));
    return this.#object ?? undefined;
  }

  /** Invalidates the last response and that of a request in flight, which may be older than this call. */
  invalidate(): void {
    this.#invalidations += 1;
    this.#requestedAt = undefined;
    this.#request = undefined;
  }

  refresh(isShown: boolean): void {
    const { clock, refreshMs } = this.#parts;
    const now = clock.monotonic();
    if (!isShown || now - this.#refreshedAt < refreshMs) return;
    this.#refreshedAt = now;
    // The listeners receive the result, including a failure.
    this.read({ signal: this.#closed.signal }).catch(() => {});
  }

  close(): void {
    this.#closed.abort();
  }

  #isFresh(): boolean {
    const { clock, ttlMs } = this.#parts;
    return this.#object != null && this.#requestedAt !== undefined && clock.monotonic() - this.#requestedAt < ttlMs();
  }

  #start(): Promise<void> {
    const asking = this.#fetch(this.#invalidations).finally(() => {
      if (this.#request === asking) this.#request = undefined;
    });
    return asking;
  }

  async #fetch(invalidation: number): Promise<void> {
    const { client } = this.#parts;
    const { kind, name } = this.#reference;
    const { signal } = this.#closed;
    // A refresh may be served from the server's watch cache.
    const version = this.#requestedAt !== undefined && this.#object != null ? '?resourceVersion=0' : '';
    try {
      const path = `${collectionPath(this.#reference)}/${encodeURIComponent(name)}${version}`;
      const object = readConfigObject(kind, await client.get(path, { signal, type: typeOf(this.#reference) }));
      if (!isOlder(object, this.#object)) this.#onResponse(object, invalidation);
    } catch (error) {
      if (error instanceof KubeError && error.code === NOT_FOUND) return this.#onResponse(null, invalidation);
      this.#listeners.onStep({ state: 'failing', failure: messageOf(error), why: errorSummary(error) });
      // Retain the last response on failure, even if it was that the object does not exist.
      if (this.#object === undefined) throw error;
    }
  }

  #onResponse(object: ConfigObject | null, invalidation: number): void {
    if (invalidation < this.#respondedTo) return;
    this.#respondedTo = invalidation;
    this.#object = object;
    if (invalidation === this.#invalidations) this.#requestedAt = this.#parts.clock.monotonic();
    this.#listeners.onStep({ state: 'watching' });
    this.#listeners.onObject(object ?? undefined);
  }
}

/**
 * Whether a version is older than the known version of the same object. Versions of different objects are not
 * comparable.
 */
const isOlder = (object: ConfigObject, known: ConfigObject | null | undefined): boolean =>
  known?.uid === object.uid && Number(object.resourceVersion) < Number(known.resourceVersion);
