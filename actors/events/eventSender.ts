/**
 * Sends events to an API server sequentially, as Kubernetes clients do (`tools/record/event.go` of client-go). Normal
 * events wait while pod starts are queued, because each request takes CPU time from the starts.
 */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { isConflict, isNotFound, KubeError } from '../../kubeclient/kubeError.ts';
import { EVENT_TYPE, eventPath, eventsPath } from '../../kubeclient/paths.ts';
import type { CoreEvent } from '../../kubernetes/events/event.ts';
import {
  type EventQueueState,
  idleQueue,
  nextQueueState,
  sendingState,
} from '../../machines/node/cluster/eventQueue.ts';
import { type Alarm, createAlarm, waitOnce } from '../alarm.ts';
import { type WaitingEvent, WaitingEvents } from './waitingEvents.ts';

export interface EventSenderDependencies {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  /** Called with each event that could not be sent. */
  readonly onError: (source: string, error: unknown) => void;
  /** Whether pod or container starts are queued. Normal events yield to them. */
  readonly hasQueuedStarts: () => boolean;
  /** Called when events start to wait and when sending resumes. */
  readonly onState: (state: EventQueueState) => void;
  /** Stops sending when aborted. */
  readonly signal: AbortSignal;
}

/** Maximum number of attempts for an unreachable server. An event that the server rejects is not retried. */
const MAX_ATTEMPTS = 12;
/** Delay between two attempts to send the same event. */
const RETRY_MS = 10_000;
/**
 * Maximum time that events about the node wait for the UID of its Node, because `kubectl describe node` selects events
 * by this UID.
 */
const NODE_UID_TIMEOUT_MS = 10_000;
/** Interval between checks for queued pod or container starts. */
const STARTS_CHECK_MS = 500;
/**
 * Minimum change of the deadline for yielding to pod starts. Smaller changes since the last reported deadline are not
 * reported.
 */
const MIN_CHANGE_MS = 1_000;
/** Maximum time that a stopping agent spends on sending the events that yielded to pod starts. */
const FINISH_TIMEOUT_MS = 2_000;

export class EventSender {
  readonly #dependencies: EventSenderDependencies;
  readonly #eventQueue = new WaitingEvents();
  #pendingSend: Promise<void> | undefined;
  /** Whether the agent is stopping, in which case events no longer yield to pod starts. */
  #isStopping = false;
  #droppedCount = 0;
  #state: EventQueueState;
  #nodeUid: string | undefined;
  /** Whether the server may have events about the node with an outdated UID or without a UID. */
  #mayHaveOutdatedUids = false;
  /** Events about the node that wait for its UID. Undefined once events no longer need to wait for it. */
  #deferredNodeEvents: CoreEvent[] | undefined = [];
  readonly #nodeUidAlarm: Alarm;
  /** Monotonic time of the last check for queued starts. Undefined while no event yields to pod starts. */
  #lastQueueCheckAt: number | undefined;
  /** Rings when an event must be sent immediately. */
  readonly #wakeUpAlarm: Alarm;

  constructor(dependencies: EventSenderDependencies) {
    this.#dependencies = dependencies;
    this.#nodeUidAlarm = createAlarm(dependencies.clock, dependencies.signal);
    this.#wakeUpAlarm = createAlarm(dependencies.clock, dependencies.signal);
    this.#state = idleQueue(dependencies.clock.now());
  }

  /** Queues a new or repeated event. */
  send(event: CoreEvent): void {
    const nodeEvents = event.involvedObject.kind === 'Node' ? this.#deferredNodeEvents : undefined;
    if (nodeEvents === undefined) this.#enqueue(event);
    else if (nodeEvents.push(event) === 1)
      void this.#nodeUidAlarm
        .waitUntil(this.#dependencies.clock.now() + NODE_UID_TIMEOUT_MS)
        .then(() => this.#releaseNodeEvents());
  }

  /** Sets the UID of the Node that later events about the node refer to. */
  setNodeUid(uid: string): void {
    if (uid !== this.#nodeUid) this.#mayHaveOutdatedUids = this.#deferredNodeEvents === undefined;
    this.#nodeUid = uid;
    this.#nodeUidAlarm.ring();
    this.#releaseNodeEvents();
  }

  #releaseNodeEvents(): void {
    const events = this.#deferredNodeEvents ?? [];
    this.#deferredNodeEvents = undefined;
    for (const event of events) this.#enqueue(event);
  }

  /**
   * Sends the events that yield to pod starts, because a stopping agent starts no pods. Resolves when they are sent or
   * after a timeout.
   */
  async finish(): Promise<void> {
    const { clock, signal } = this.#dependencies;
    this.#isStopping = true;
    this.#releaseNodeEvents();
    this.#wakeUpAlarm.ring();
    // Waiting for an unavailable server is pointless.
    if (this.#pendingSend === undefined || this.#state.failure !== undefined) return;
    const timeoutAlarm = createAlarm(clock, signal);
    void this.#pendingSend.then(timeoutAlarm.ring);
    await timeoutAlarm.waitUntil(clock.now() + FINISH_TIMEOUT_MS);
  }

  #enqueue(event: CoreEvent): void {
    if (!this.#eventQueue.add(event, this.#dependencies.clock.monotonic())) this.#droppedCount += 1;
    this.#pendingSend ??= this.#sendAll();
    if (event.type !== 'Normal') this.#wakeUpAlarm.ring();
  }

  async #sendAll(): Promise<void> {
    const { hasQueuedStarts, clock, signal } = this.#dependencies;
    while (this.#eventQueue.size > 0 && !signal.aborted) {
      const nextEvent = this.#eventQueue.next(clock.monotonic(), !this.#isStopping && hasQueuedStarts());
      if (nextEvent === undefined) {
        await this.#yieldToStarts();
        continue;
      }
      if (nextEvent.event.type === 'Normal') this.#stopYielding();
      await this.#sendOne(nextEvent);
      if (this.#state.failure !== undefined) this.#update({ waitingCount: this.#eventQueue.size });
    }
    this.#pendingSend = undefined;
    if (this.#state.waitingCount > 0) this.#update({ waitingCount: 0 });
  }

  /**
   * Waits until the next check for queued starts. If starts are still queued `STARTS_CHECK_MS` after the last check,
   * reports the wait.
   */
  async #yieldToStarts(): Promise<void> {
    const { clock, hasQueuedStarts } = this.#dependencies;
    this.#lastQueueCheckAt ??= clock.monotonic();
    await this.#wakeUpAlarm.waitUntil(
      clock.now() + Math.min(STARTS_CHECK_MS, this.#eventQueue.remainingYieldMs(clock.monotonic())),
    );
    const now = clock.monotonic();
    const remainingMs = this.#eventQueue.remainingYieldMs(now);
    if (now - this.#lastQueueCheckAt < STARTS_CHECK_MS || remainingMs === 0 || !hasQueuedStarts()) return;
    this.#lastQueueCheckAt = now;
    const [waitingCount, until] = [this.#eventQueue.normalCount, Math.round(clock.now() + remainingMs)];
    const { until: reportedUntil = 0 } = this.#state;
    if (waitingCount !== this.#state.waitingCount || Math.abs(until - reportedUntil) >= MIN_CHANGE_MS)
      this.#update({ waitingCount, until });
  }

  #stopYielding(): void {
    this.#lastQueueCheckAt = undefined;
    const { until, failure } = this.#state;
    if (until !== undefined && failure === undefined) this.#update({ waitingCount: this.#eventQueue.size + 1 });
  }

  async #sendOne(queued: WaitingEvent): Promise<void> {
    const { signal, jitter } = this.#dependencies;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#putEvent(queued);
      } catch (cause) {
        if (signal.aborted) return;
        if (!(cause instanceof KubeError) && attempt < MAX_ATTEMPTS)
          await this.#pauseAfterFailure(attempt === 1 ? RETRY_MS * jitter() : RETRY_MS, cause);
        // A conflict means that an earlier attempt has created the event, so there is nothing left to send.
        else if (isConflict(cause)) return;
        else return this.#dropEvent(queued, cause);
        if (signal.aborted) return;
      }
    }
  }

  async #putEvent({ event, isNew }: WaitingEvent): Promise<void> {
    const { client, signal } = this.#dependencies;
    const { count, lastTimestamp, message } = event;
    if (!isNew) {
      try {
        const eventPatch = { count, lastTimestamp, message, ...this.#updatedReference(event) };
        await client.patch(eventPath(event.metadata), eventPatch, { signal, type: EVENT_TYPE });
        return;
      } catch (error) {
        // Create the event again, because the server deletes events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(eventsPath(event.metadata), createSentEvent(event, this.#nodeUid), { signal });
  }

  /**
   * Returns the new UID for a repeated event about a Node that was replaced. A kubelet's events contain no UID, so they
   * need no update. The server allows the change (`ValidateEventUpdate` in pkg/apis/core/validation/events.go).
   */
  #updatedReference({ involvedObject }: CoreEvent): { readonly involvedObject?: { readonly uid: string | undefined } } {
    const isOutdated = this.#mayHaveOutdatedUids && involvedObject.kind === 'Node';
    return isOutdated ? { involvedObject: { uid: this.#nodeUid } } : {};
  }

  /** Drops an event that the server rejects, because retrying it would delay other events. */
  #dropEvent(queued: WaitingEvent, cause: unknown): void {
    this.#droppedCount += 1;
    this.#dependencies.onError('events', createFailure(queued, cause));
  }

  #update(change: { readonly waitingCount: number; readonly until?: number; readonly failure?: string }): void {
    const { clock, signal } = this.#dependencies;
    if (!signal.aborted)
      this.#reportState(nextQueueState(this.#state, { ...change, droppedCount: this.#droppedCount, now: clock.now() }));
  }

  /**
   * Reports a state. Does nothing while the agent is stopping, because the actors that receive the state no longer
   * exist.
   */
  #reportState(state: EventQueueState): void {
    this.#state = state;
    if (!this.#isStopping) this.#dependencies.onState(state);
  }

  async #pauseAfterFailure(ms: number, cause: unknown): Promise<void> {
    const { clock, signal } = this.#dependencies;
    this.#update({ waitingCount: this.#eventQueue.size + 1, until: clock.now() + ms, failure: messageOf(cause) });
    await waitOnce(clock.now() + ms, clock, signal);
    if (signal.aborted) return;
    this.#reportState(sendingState(this.#state));
  }
}

/**
 * Returns the event as it is sent to the server. An event about a Node contains the Node's UID in the cluster, if
 * known.
 */
function createSentEvent({ involvedObject, metadata, ...event }: CoreEvent, uid?: string) {
  const { creationTimestamp: _, ...sentMetadata } = metadata;
  const { kind, name: involvedName } = involvedObject;
  const node = { kind, name: involvedName, ...(uid === undefined ? {} : { uid }), apiVersion: 'v1' };
  const involvedReference = kind === 'Node' ? node : involvedObject;
  return { ...event, metadata: sentMetadata, involvedObject: involvedReference, eventTime: null };
}

const createFailure = ({ event: { reason, metadata } }: WaitingEvent, cause: unknown): NodeFailure =>
  new NodeFailure('EventNotSent', `event ${reason} of ${metadata.namespace}/${metadata.name}: ${messageOf(cause)}`, {
    cause,
  });
