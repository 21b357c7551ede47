/** An object that is asked for where it is needed (`util/manager/cache_based_manager.go` of the kubelet). */

import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { errorSummary, KubeError } from '../../../kubeclient/kubeError.ts';
import { type ConfigObject, type ConfigReference, readConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { cacheSyncTimeout } from '../../../kubernetes/objects/podObjects.ts';
import { collectionPath, type HeldListeners, type HeldObject, typeOf, untilHeard } from './heldObject.ts';

export interface FetchedParts {
  readonly client: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  /** How long an answer is good, in milliseconds; 0: every reader asks again. */
  readonly ttlMs: () => number;
  /** What a volume shows is looked at so often, in milliseconds. */
  readonly lookMs: number;
}

const NOT_FOUND = 404;

export class FetchedObject implements HeldObject {
  readonly #reference: ConfigReference;
  readonly #parts: FetchedParts;
  readonly #listeners: HeldListeners;
  /** Null: there is none. */
  #object: ConfigObject | null | undefined;
  /** When that was asked for, by the monotonic clock; absent: another answer is wanted. */
  #askedAt: number | undefined;
  #asking: Promise<void> | undefined;
  /** How often another answer was wanted, and which of these wants the last answer is of: those of before say less. */
  #wanted = 0;
  #heard = 0;
  readonly #closed = new AbortController();
  #lookedAt: number;

  constructor(reference: ConfigReference, parts: FetchedParts, listeners: HeldListeners) {
    this.#reference = reference;
    this.#parts = parts;
    this.#listeners = listeners;
    this.#lookedAt = parts.clock.monotonic();
  }

  async read({ signal }: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined> {
    signal.throwIfAborted();
    if (!this.#isFresh()) {
      this.#asking ??= this.#begin();
      await untilHeard(this.#asking, { clock: this.#parts.clock, signal });
    }
    if (this.#object === undefined) throw new Error(cacheSyncTimeout(this.#reference.kind));
    return this.#object ?? undefined;
  }

  /** What was asked for before this may be answered with what was there then. */
  renew(): void {
    this.#wanted += 1;
    this.#askedAt = undefined;
    this.#asking = undefined;
  }

  tend(isShown: boolean): void {
    const { clock, lookMs } = this.#parts;
    const now = clock.monotonic();
    if (!isShown || now - this.#lookedAt < lookMs) return;
    this.#lookedAt = now;
    // What it finds it tells; why it finds nothing is a step.
    this.read({ signal: this.#closed.signal }).catch(() => {});
  }

  close(): void {
    this.#closed.abort();
  }

  #isFresh(): boolean {
    const { clock, ttlMs } = this.#parts;
    return this.#object != null && this.#askedAt !== undefined && clock.monotonic() - this.#askedAt < ttlMs();
  }

  #begin(): Promise<void> {
    const asking = this.#ask(this.#wanted).finally(() => {
      if (this.#asking === asking) this.#asking = undefined;
    });
    return asking;
  }

  async #ask(want: number): Promise<void> {
    const { client } = this.#parts;
    const { kind, name } = this.#reference;
    const { signal } = this.#closed;
    // What is only refreshed may come from what the server has at hand.
    const version = this.#askedAt !== undefined && this.#object != null ? '?resourceVersion=0' : '';
    try {
      const path = `${collectionPath(this.#reference)}/${encodeURIComponent(name)}${version}`;
      const object = readConfigObject(kind, await client.get(path, { signal, type: typeOf(this.#reference) }));
      if (!isOlder(object, this.#object)) this.#take(object, want);
    } catch (error) {
      if (error instanceof KubeError && error.code === NOT_FOUND) return this.#take(null, want);
      this.#listeners.onStep({ state: 'failing', failure: messageOf(error), why: errorSummary(error) });
      // What was heard last is better than nothing, also that there is none.
      if (this.#object === undefined) throw error;
    }
  }

  #take(object: ConfigObject | null, want: number): void {
    if (want < this.#heard) return;
    this.#heard = want;
    this.#object = object;
    if (want === this.#wanted) this.#askedAt = this.#parts.clock.monotonic();
    this.#listeners.onStep({ state: 'watching' });
    this.#listeners.onSeen(object ?? undefined);
  }
}

/** Of two versions that can be compared. */
const isOlder = (object: ConfigObject, known: ConfigObject | null | undefined): boolean =>
  known?.uid === object.uid && Number(object.resourceVersion) < Number(known.resourceVersion);
