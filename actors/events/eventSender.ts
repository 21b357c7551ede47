/**
 * Events on their way to an API server, one after the other, as clients of Kubernetes send them (`tools/record/event.go`
 * of client-go). Normal events wait while starts of pods wait in line, because each request takes CPU time from them.
 */

import type { Clock } from '../../base/clock.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { isConflict, isNotFound, KubeError } from '../../kubeclient/kubeError.ts';
import { EVENT, eventPath, eventsPath } from '../../kubeclient/paths.ts';
import type { CoreEvent } from '../../kubernetes/events/event.ts';
import { type EventQueueState, nextQueue, quietQueue, whileTrying } from '../../machines/node/eventQueue.ts';
import { type Alarm, createAlarm, waitOnce } from '../alarm.ts';
import { type WaitingEvent, WaitingEvents } from './waitingEvents.ts';

export interface EventSenderParts {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  /** Told of each event that the server never gets. */
  readonly onError: (source: string, error: unknown) => void;
  /** Whether pods or containers wait for others to be started: normal events give way to them. */
  readonly hasQueuedStarts: () => boolean;
  /** Told when events have to wait, and when they go out again. */
  readonly onState: (state: EventQueueState) => void;
  /** Once it aborts nothing is sent any more. */
  readonly signal: AbortSignal;
}

/** A server that can not be reached is tried so often, so far apart; its refusal stands. */
const TRIES = 12;
const RETRY_MS = 10_000;
/** Events of the node wait so long for the UID of its Node: `kubectl describe node` finds them by that. */
const HELD_MS = 10_000;
/** How often to look whether starts still wait. */
const LOOK_MS = 500;
/** Until when they give way at most is told again when it has moved by so much. */
const MOVED_MS = 1_000;
/** An agent that stops waits so long at most for what has given way. */
const FINISH_MS = 2_000;

export class EventSender {
  readonly #parts: EventSenderParts;
  readonly #queue = new WaitingEvents();
  #sending: Promise<void> | undefined;
  /** Nothing gives way any more. */
  #isEnding = false;
  #dropped = 0;
  #told: EventQueueState;
  #nodeUid: string | undefined;
  /** The server may have events of the node that name another UID, or none. */
  #namesOthers = false;
  /** Events of the node that wait; undefined once they need not any more. */
  #held: CoreEvent[] | undefined = [];
  readonly #hold: Alarm;
  /** When it was last checked whether starts wait, by a clock that nobody sets; undefined while none gives way. */
  #lookedAt: number | undefined;
  /** Rings when there is something to send at once. */
  readonly #turn: Alarm;

  constructor(parts: EventSenderParts) {
    this.#parts = parts;
    this.#hold = createAlarm(parts.clock, parts.signal);
    this.#turn = createAlarm(parts.clock, parts.signal);
    this.#told = quietQueue(parts.clock.now());
  }

  /** Takes an event that is new, or was counted once more. */
  take(event: CoreEvent): void {
    const held = event.involvedObject.kind === 'Node' ? this.#held : undefined;
    if (held === undefined) this.#enqueue(event);
    else if (held.push(event) === 1)
      void this.#hold.wait(this.#parts.clock.now() + HELD_MS).then(() => this.#release());
  }

  /** The Node of the cluster that events of the node are about from now on. */
  learnNode(uid: string): void {
    if (uid !== this.#nodeUid) this.#namesOthers = this.#held === undefined;
    this.#nodeUid = uid;
    this.#hold.ring();
    this.#release();
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#enqueue(event);
  }

  /** Sends what has given way: an agent that stops starts no pods. Resolves when that is done, or takes too long. */
  async finish(): Promise<void> {
    const { clock, signal } = this.#parts;
    this.#isEnding = true;
    this.#release();
    this.#turn.ring();
    // A server that is away would be waited for in vain.
    if (this.#sending === undefined || this.#told.failure !== undefined) return;
    const limit = createAlarm(clock, signal);
    void this.#sending.then(limit.ring);
    await limit.wait(clock.now() + FINISH_MS);
  }

  #enqueue(event: CoreEvent): void {
    if (!this.#queue.add(event, this.#parts.clock.monotonic())) this.#dropped += 1;
    this.#sending ??= this.#sendAll();
    if (event.type !== 'Normal') this.#turn.ring();
  }

  async #sendAll(): Promise<void> {
    const { hasQueuedStarts, clock, signal } = this.#parts;
    while (this.#queue.size > 0 && !signal.aborted) {
      const next = this.#queue.next(clock.monotonic(), !this.#isEnding && hasQueuedStarts());
      if (next === undefined) {
        await this.#giveWay();
        continue;
      }
      if (next.event.type === 'Normal') this.#endYielding();
      await this.#send(next);
      if (this.#told.failure !== undefined) this.#tell({ waiting: this.#queue.size });
    }
    this.#sending = undefined;
    if (this.#told.waiting > 0) this.#tell({ waiting: 0 });
  }

  /** Waits until no start waits any more, or for a warning; a wait that is soon over is nothing to tell of. */
  async #giveWay(): Promise<void> {
    const { clock, hasQueuedStarts } = this.#parts;
    this.#lookedAt ??= clock.monotonic();
    await this.#turn.wait(clock.now() + Math.min(LOOK_MS, this.#queue.yieldsFor(clock.monotonic())));
    const now = clock.monotonic();
    const left = this.#queue.yieldsFor(now);
    if (now - this.#lookedAt < LOOK_MS || left === 0 || !hasQueuedStarts()) return;
    this.#lookedAt = now;
    const [waiting, until] = [this.#queue.yielding, Math.round(clock.now() + left)];
    const { until: told = 0 } = this.#told;
    if (waiting !== this.#told.waiting || Math.abs(until - told) >= MOVED_MS) this.#tell({ waiting, until });
  }

  #endYielding(): void {
    this.#lookedAt = undefined;
    const { until, failure } = this.#told;
    if (until !== undefined && failure === undefined) this.#tell({ waiting: this.#queue.size + 1 });
  }

  async #send(queued: WaitingEvent): Promise<void> {
    const { signal, jitter } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#put(queued);
      } catch (cause) {
        if (signal.aborted) return;
        if (!(cause instanceof KubeError) && tries < TRIES)
          await this.#pause(tries === 1 ? RETRY_MS * jitter() : RETRY_MS, cause);
        // Another try of it has reached the server.
        else if (isConflict(cause)) return;
        else return this.#drop(queued, cause);
        if (signal.aborted) return;
      }
    }
  }

  async #put({ event, isNew }: WaitingEvent): Promise<void> {
    const { client, signal } = this.#parts;
    const { count, lastTimestamp, message } = event;
    if (!isNew) {
      try {
        const change = { count, lastTimestamp, message, ...this.#ofAnother(event) };
        await client.patch(eventPath(event.metadata), change, { signal, type: EVENT });
        return;
      } catch (error) {
        // The server keeps events for an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(eventsPath(event.metadata), sentEvent(event, this.#nodeUid), { signal });
  }

  /**
   * An event that is counted on after its Node was replaced is about the new one. A kubelet names no UID, so none of its
   * is of another; the server lets it change (`ValidateEventUpdate` in pkg/apis/core/validation/events.go).
   */
  #ofAnother({ involvedObject }: CoreEvent): { readonly involvedObject?: { readonly uid: string | undefined } } {
    const isOther = this.#namesOthers && involvedObject.kind === 'Node';
    return isOther ? { involvedObject: { uid: this.#nodeUid } } : {};
  }

  /** Nobody is to wait for an event that the server does not take. */
  #drop(queued: WaitingEvent, cause: unknown): void {
    this.#dropped += 1;
    this.#parts.onError('events', failureOf(queued, cause));
  }

  #tell(change: { readonly waiting: number; readonly until?: number; readonly failure?: string }): void {
    const { clock, signal } = this.#parts;
    if (!signal.aborted) this.#show(nextQueue(this.#told, { ...change, dropped: this.#dropped, now: clock.now() }));
  }

  /** An agent that stops has no actors any more that could be told. */
  #show(state: EventQueueState): void {
    this.#told = state;
    if (!this.#isEnding) this.#parts.onState(state);
  }

  async #pause(ms: number, cause: unknown): Promise<void> {
    const { clock, signal } = this.#parts;
    this.#tell({ waiting: this.#queue.size + 1, until: clock.now() + ms, failure: messageOf(cause) });
    await waitOnce(clock.now() + ms, clock, signal);
    if (signal.aborted) return;
    this.#show(whileTrying(this.#told));
  }
}

/** A Node is referred to by the UID that the cluster knows it by, if that is known. */
function sentEvent({ involvedObject, metadata: { name, namespace }, ...event }: CoreEvent, uid?: string) {
  const { kind, name: of } = involvedObject;
  const node = { kind, name: of, ...(uid === undefined ? {} : { uid }), apiVersion: 'v1' };
  const involved = kind === 'Node' ? node : involvedObject;
  return { ...event, metadata: { name, namespace }, involvedObject: involved, eventTime: null };
}

const failureOf = ({ event: { reason, metadata } }: WaitingEvent, cause: unknown): NodeFailure =>
  new NodeFailure('EventNotSent', `event ${reason} of ${metadata.namespace}/${metadata.name}: ${messageOf(cause)}`, {
    cause,
  });
