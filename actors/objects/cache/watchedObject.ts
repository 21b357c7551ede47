/** An object that has a watch of its own (`util/manager/watch_based_manager.go` of the kubelet). */

import type { Clock } from '../../../base/clock.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { Reflector } from '../../../kubeclient/reflector.ts';
import { type ConfigObject, type ConfigReference, readConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { cacheSyncTimeout } from '../../../kubernetes/objects/podObjects.ts';
import { collectionPath, type HeldListeners, type HeldObject, typeOf, untilHeard } from './heldObject.ts';

export interface WatchedParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  /** An object that no volume shows is followed for so long after it was read last, in milliseconds. */
  readonly idleMs: number;
}

/** Watches of single objects are many, and seldom told anything: each lasts half an hour at least. */
const SHORTEST_WATCH_S = 30 * 60;

export class WatchedObject implements HeldObject {
  readonly #reference: ConfigReference;
  readonly #parts: WatchedParts;
  readonly #listeners: HeldListeners;
  #running: AbortController | undefined;
  /** Undefined until the server has told; null: there is none. */
  #object: ConfigObject | null | undefined;
  /** Why the server cannot be heard: of what it has told nothing is less known for that. */
  #failure = '';
  /** What is wrong with the object that there is. */
  #problem = '';
  #readAt: number;
  /** Resolves when the server has told. */
  #heard = Promise.withResolvers<void>();

  constructor(reference: ConfigReference, parts: WatchedParts, listeners: HeldListeners) {
    this.#reference = reference;
    this.#parts = parts;
    this.#listeners = listeners;
    this.#readAt = parts.clock.monotonic();
    this.#start();
  }

  async read({ signal }: { readonly signal: AbortSignal }): Promise<ConfigObject | undefined> {
    this.#readAt = this.#parts.clock.monotonic();
    if (this.#running === undefined && this.#object?.isImmutable !== true) this.#start();
    if (this.#object === undefined) await untilHeard(this.#heard.promise, { clock: this.#parts.clock, signal });
    if (this.#object === undefined) throw new Error(this.#unknown());
    if (this.#object !== null) return this.#object;
    if (this.#problem !== '') throw new Error(this.#problem);
    return undefined;
  }

  renew(): void {}

  tend(isShown: boolean): void {
    const idle = this.#parts.clock.monotonic() - this.#readAt;
    // What is awaited, because there is none yet, is followed until it comes.
    if (isShown || !this.#object || idle < this.#parts.idleMs) return;
    this.close();
    this.#object = undefined;
    this.#heard = Promise.withResolvers();
  }

  close(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  #start(): void {
    const running = new AbortController();
    this.#running = running;
    const { client, clock, jitter } = this.#parts;
    const { name, kind } = this.#reference;
    const ifRunning =
      <T>(act: (told: T) => void) =>
      (told: T) => {
        if (!running.signal.aborted) act(told);
      };
    const reflector = new Reflector<ConfigObject>({
      client,
      clock,
      jitter,
      signal: running.signal,
      minWatchSeconds: SHORTEST_WATCH_S,
      path: collectionPath(this.#reference),
      type: typeOf(this.#reference),
      query: { fieldSelector: `metadata.name=${name}` },
      transform: (object) => readConfigObject(kind, object),
      onSet: ifRunning(([object]: readonly ConfigObject[]) => this.#take(object)),
      onStep: ifRunning((step) => {
        if (step.state === 'failing') this.#failure = step.failure;
        this.#listeners.onStep(step);
      }),
      onProblem: ifRunning((problem) => {
        this.#problem = problem;
      }),
    });
    void reflector.run();
  }

  #take(object: ConfigObject | undefined): void {
    this.#object = object ?? null;
    if (object !== undefined) this.#problem = '';
    this.#failure = '';
    this.#heard.resolve();
    this.#listeners.onSeen(object);
    if (object?.isImmutable) this.close();
  }

  /** A kubelet's words, and what is behind them. */
  #unknown(): string {
    const words = cacheSyncTimeout(this.#reference.kind);
    return this.#failure === '' ? words : `${words} (${this.#failure})`;
  }
}
