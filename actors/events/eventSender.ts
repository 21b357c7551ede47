/**
 * Sends events to an API server sequentially, like Kubernetes clients (`tools/record/event.go` of client-go). Normal
 * events wait while pod starts are queued, because each request takes CPU time from them.
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
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  /** Called with each event that could not be sent. */
  readonly onError: (source: string, error: unknown) => void;
  /** Whether pod or container starts are queued, to which normal events yield. */
  readonly hasQueuedStarts: () => boolean;
  /** Called when events have to wait and when they are sent again. */
  readonly onState: (state: EventQueueState) => void;
  /** Stops sending when aborted. */
  readonly signal: AbortSignal;
}

/** Maximum number of attempts for an unreachable server. An event that the server rejects is not retried. */
const MAX_ATTEMPTS = 12;
/** Delay between two attempts. */
const RETRY_MS = 10_000;
/**
 * Maximum time that events about the node wait for the UID of its Node, because `kubectl describe node` selects events
 * by this UID.
 */
const NODE_UID_TIMEOUT_MS = 10_000;
/** Interval between checks whether starts are still queued. */
const STARTS_CHECK_MS = 500;
/** A new deadline for yielding is only reported if it differs by at least this much. */
const MIN_CHANGE_MS = 1_000;
/** Maximum time that a stopping agent waits for yielding events to be sent. */
const FINISH_TIMEOUT_MS = 2_000;

export class EventSender {
  readonly #parts: EventSenderParts;
  readonly #queue = new WaitingEvents();
  #sending: Promise<void> | undefined;
  /** Whether the agent is stopping, in which case no event yields. */
  #isStopping = false;
  #dropped = 0;
  #state: EventQueueState;
  #nodeUid: string | undefined;
  /** Whether the server may have events about the node that contain a different UID or none. */
  #hasOutdatedUids = false;
  /** Events about the node that wait for its UID. Undefined once events no longer need to wait for it. */
  #heldNodeEvents: CoreEvent[] | undefined = [];
  readonly #nodeUidAlarm: Alarm;
  /** Time of the last check for queued starts on the monotonic clock. Undefined while no event yields. */
  #checkedAt: number | undefined;
  /** Rings when an event must be sent immediately. */
  readonly #wakeUp: Alarm;

  constructor(parts: EventSenderParts) {
    this.#parts = parts;
    this.#nodeUidAlarm = createAlarm(parts.clock, parts.signal);
    this.#wakeUp = createAlarm(parts.clock, parts.signal);
    this.#state = quietQueue(parts.clock.now());
  }

  /** Queues a new or repeated event. */
  send(event: CoreEvent): void {
    const nodeEvents = event.involvedObject.kind === 'Node' ? this.#heldNodeEvents : undefined;
    if (nodeEvents === undefined) this.#enqueue(event);
    else if (nodeEvents.push(event) === 1)
      void this.#nodeUidAlarm.wait(this.#parts.clock.now() + NODE_UID_TIMEOUT_MS).then(() => this.#releaseNodeEvents());
  }

  /** Sets the UID of the Node that later events about the node refer to. */
  setNodeUid(uid: string): void {
    if (uid !== this.#nodeUid) this.#hasOutdatedUids = this.#heldNodeEvents === undefined;
    this.#nodeUid = uid;
    this.#nodeUidAlarm.ring();
    this.#releaseNodeEvents();
  }

  #releaseNodeEvents(): void {
    const events = this.#heldNodeEvents ?? [];
    this.#heldNodeEvents = undefined;
    for (const event of events) this.#enqueue(event);
  }

  /**
   * Sends the yielding events, because a stopping agent starts no pods. Resolves when they are sent or after a timeout.
   */
  async finish(): Promise<void> {
    const { clock, signal } = this.#parts;
    this.#isStopping = true;
    this.#releaseNodeEvents();
    this.#wakeUp.ring();
    // Waiting for an unavailable server is pointless.
    if (this.#sending === undefined || this.#state.failure !== undefined) return;
    const limit = createAlarm(clock, signal);
    void this.#sending.then(limit.ring);
    await limit.wait(clock.now() + FINISH_TIMEOUT_MS);
  }

  #enqueue(event: CoreEvent): void {
    if (!this.#queue.add(event, this.#parts.clock.monotonic())) this.#dropped += 1;
    this.#sending ??= this.#sendAll();
    if (event.type !== 'Normal') this.#wakeUp.ring();
  }

  async #sendAll(): Promise<void> {
    const { hasQueuedStarts, clock, signal } = this.#parts;
    while (this.#queue.size > 0 && !signal.aborted) {
      const next = this.#queue.next(clock.monotonic(), !this.#isStopping && hasQueuedStarts());
      if (next === undefined) {
        await this.#yieldToStarts();
        continue;
      }
      if (next.event.type === 'Normal') this.#stopYielding();
      await this.#sendOne(next);
      if (this.#state.failure !== undefined) this.#update({ waiting: this.#queue.size });
    }
    this.#sending = undefined;
    if (this.#state.waiting > 0) this.#update({ waiting: 0 });
  }

  /** Waits until no start is queued or a warning arrives. A short wait is not reported. */
  async #yieldToStarts(): Promise<void> {
    const { clock, hasQueuedStarts } = this.#parts;
    this.#checkedAt ??= clock.monotonic();
    await this.#wakeUp.wait(clock.now() + Math.min(STARTS_CHECK_MS, this.#queue.yieldsFor(clock.monotonic())));
    const now = clock.monotonic();
    const remainingMs = this.#queue.yieldsFor(now);
    if (now - this.#checkedAt < STARTS_CHECK_MS || remainingMs === 0 || !hasQueuedStarts()) return;
    this.#checkedAt = now;
    const [waiting, until] = [this.#queue.normalCount, Math.round(clock.now() + remainingMs)];
    const { until: reportedUntil = 0 } = this.#state;
    if (waiting !== this.#state.waiting || Math.abs(until - reportedUntil) >= MIN_CHANGE_MS)
      this.#update({ waiting, until });
  }

  #stopYielding(): void {
    this.#checkedAt = undefined;
    const { until, failure } = this.#state;
    if (until !== undefined && failure === undefined) this.#update({ waiting: this.#queue.size + 1 });
  }

  async #sendOne(queued: WaitingEvent): Promise<void> {
    const { signal, jitter } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#put(queued);
      } catch (cause) {
        if (signal.aborted) return;
        if (!(cause instanceof KubeError) && attempt < MAX_ATTEMPTS)
          await this.#pause(attempt === 1 ? RETRY_MS * jitter() : RETRY_MS, cause);
        // The conflict means that an earlier attempt has reached the server.
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
        const change = { count, lastTimestamp, message, ...this.#updatedReference(event) };
        await client.patch(eventPath(event.metadata), change, { signal, type: EVENT });
        return;
      } catch (error) {
        // The server deletes events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(eventsPath(event.metadata), sentEvent(event, this.#nodeUid), { signal });
  }

  /**
   * Returns the new UID for a repeated event about a Node that was replaced. A kubelet's events contain no UID, so they
   * need no update. The server allows the change (`ValidateEventUpdate` in pkg/apis/core/validation/events.go).
   */
  #updatedReference({ involvedObject }: CoreEvent): { readonly involvedObject?: { readonly uid: string | undefined } } {
    const isOutdated = this.#hasOutdatedUids && involvedObject.kind === 'Node';
    return isOutdated ? { involvedObject: { uid: this.#nodeUid } } : {};
  }

  /** Drops an event that the server rejects, because retrying it would delay other events. */
  #drop(queued: WaitingEvent, cause: unknown): void {
    this.#dropped += 1;
    this.#parts.onError('events', failureOf(queued, cause));
  }

  #update(change: { readonly waiting: number; readonly until?: number; readonly failure?: string }): void {
    const { clock, signal } = this.#parts;
    if (!signal.aborted) this.#report(nextQueue(this.#state, { ...change, dropped: this.#dropped, now: clock.now() }));
  }

  /** Reports a state, unless the agent is stopping, because its actors no longer exist. */
  #report(state: EventQueueState): void {
    this.#state = state;
    if (!this.#isStopping) this.#parts.onState(state);
  }

  async #pause(ms: number, cause: unknown): Promise<void> {
    const { clock, signal } = this.#parts;
    this.#update({ waiting: this.#queue.size + 1, until: clock.now() + ms, failure: messageOf(cause) });
    await waitOnce(clock.now() + ms, clock, signal);
    if (signal.aborted) return;
    this.#report(whileTrying(this.#state));
  }
}

/** Returns the event as it is sent. An event about a Node contains the Node's UID in the cluster, if known. */
function sentEvent({ involvedObject, metadata: { name, namespace }, ...event }: CoreEvent, uid?: string) {
  const { kind, name: involvedName } = involvedObject;
  const node = { kind, name: involvedName, ...(uid === undefined ? {} : { uid }), apiVersion: 'v1' };
  const involved = kind === 'Node' ? node : involvedObject;
  return { ...event, metadata: { name, namespace }, involvedObject: involved, eventTime: null };
}

const failureOf = ({ event: { reason, metadata } }: WaitingEvent, cause: unknown): NodeFailure =>
  new NodeFailure('EventNotSent', `event ${reason} of ${metadata.namespace}/${metadata.name}: ${messageOf(cause)}`, {
    cause,
  });
