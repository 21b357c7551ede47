/** Events on their way to an API server, one after the other, as clients of Kubernetes send them (`tools/record/event.go` of client-go). */
import type { KubeClient } from '../../kube/client.ts';
import { isConflict, isNotFound, KubeError } from '../../kube/kubeError.ts';
import { eventPath, eventsPath } from '../../kube/paths.ts';
import { type EventQueueState, nextQueue, quietQueue, whileTrying } from '../../machines/node/eventQueue.ts';
import type { CoreEvent } from '../../pod/events/event.ts';
import { messageOf, NodeFailure } from '../../pod/failure.ts';
import { type Alarm, createAlarm } from '../alarm.ts';
import type { Clock } from '../clock.ts';

export interface EventSenderParts {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  /** Told of each event that the server never gets. */
  readonly onError: (source: string, error: unknown) => void;
  /** Told when events have to wait, and when they go out again. */
  readonly onState: (state: EventQueueState) => void;
  /** Once it aborts nothing is sent any more. */
  readonly signal: AbortSignal;
}

/** What waits beyond that is not sent. */
const QUEUED = 1_000;
/** A server that can not be reached is tried so often, so far apart; its refusal stands. */
const TRIES = 12;
const RETRY_MS = 10_000;
/** Events of the node wait so long for the UID of its Node: `kubectl describe node` finds them by that. */
const HELD_MS = 10_000;

interface Queued {
  readonly event: CoreEvent;
  /** The server does not have it yet. */
  readonly isNew: boolean;
}

export class EventSender {
  readonly #parts: EventSenderParts;
  /** By namespace and name: of an event that happened again meanwhile the last count is sent. */
  readonly #queue = new Map<string, Queued>();
  #isSending = false;
  #dropped = 0;
  #told: EventQueueState;
  #nodeUid: string | undefined;
  /** The server may have events of the node that name another UID, or none. */
  #namesOthers = false;
  /** Events of the node that wait; undefined once they need not any more. */
  #held: CoreEvent[] | undefined = [];
  readonly #hold: Alarm;

  constructor(parts: EventSenderParts) {
    this.#parts = parts;
    this.#hold = createAlarm(parts.clock, parts.signal);
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

  #enqueue(event: CoreEvent): void {
    const key = `${event.metadata.namespace}/${event.metadata.name}`;
    const waiting = this.#queue.get(key);
    if (waiting === undefined && this.#queue.size >= QUEUED) {
      this.#dropped += 1;
      return;
    }
    this.#queue.set(key, { event, isNew: waiting?.isNew ?? event.count === 1 });
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      await this.#send(next);
      if (this.#told.failure !== undefined) this.#tell({ waiting: this.#queue.size });
    }
    this.#isSending = false;
    if (this.#told.waiting > 0) this.#tell({ waiting: 0 });
  }

  #next(): Queued | undefined {
    const [first] = this.#queue;
    if (first === undefined || this.#parts.signal.aborted) return undefined;
    const [key, queued] = first;
    this.#queue.delete(key);
    return queued;
  }

  async #send(queued: Queued): Promise<void> {
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

  async #put({ event, isNew }: Queued): Promise<void> {
    const { client, signal } = this.#parts;
    const { count, lastTimestamp, message } = event;
    if (!isNew) {
      try {
        const change = { count, lastTimestamp, message, ...this.#ofAnother(event) };
        await client.patch(eventPath(event.metadata), change, { signal });
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
  #drop(queued: Queued, cause: unknown): void {
    this.#dropped += 1;
    this.#parts.onError('events', failureOf(queued, cause));
  }

  #tell(change: { readonly waiting: number; readonly until?: number; readonly failure?: string }): void {
    const { clock, onState, signal } = this.#parts;
    if (signal.aborted) return;
    this.#told = nextQueue(this.#told, { ...change, dropped: this.#dropped, now: clock.now() });
    onState(this.#told);
  }

  async #pause(ms: number, cause: unknown): Promise<void> {
    const { clock, signal, onState } = this.#parts;
    this.#tell({ waiting: this.#queue.size + 1, until: clock.now() + ms, failure: messageOf(cause) });
    await new Promise<void>((done) => {
      const end = () => {
        clock.clearTimeout(timer);
        signal.removeEventListener('abort', end);
        done();
      };
      const timer = clock.setTimeout(end, ms);
      signal.addEventListener('abort', end, { once: true });
    });
    if (signal.aborted) return;
    this.#told = whileTrying(this.#told);
    onState(this.#told);
  }
}

/** A Node is referred to by the UID that the cluster knows it by, if that is known. */
function sentEvent({ involvedObject, metadata: { name, namespace }, ...event }: CoreEvent, uid?: string) {
  const { kind, name: of } = involvedObject;
  const node = { kind, name: of, ...(uid === undefined ? {} : { uid }), apiVersion: 'v1' };
  const involved = kind === 'Node' ? node : involvedObject;
  return { ...event, metadata: { name, namespace }, involvedObject: involved, eventTime: null };
}

const failureOf = ({ event: { reason, metadata } }: Queued, cause: unknown): NodeFailure =>
  new NodeFailure('EventNotSent', `event ${reason} of ${metadata.namespace}/${metadata.name}: ${messageOf(cause)}`, {
    cause,
  });
