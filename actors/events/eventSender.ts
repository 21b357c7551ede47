/** Events on their way to an API server, one after the other, as clients of Kubernetes send them (`tools/record/event.go` of client-go). */
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isConflict, isNotFound, KubeError } from '../../kube/kubeError.ts';
import { eventPath, eventsPath } from '../../kube/paths.ts';
import type { CoreEvent } from '../../pod/events/event.ts';
import { messageOf, NodeFailure } from '../../pod/failure.ts';

export interface EventSenderParts {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  /** Told of each event that the server never gets. */
  readonly onError: (source: string, error: unknown) => void;
  /** Once it aborts nothing is sent any more. */
  readonly signal: AbortSignal;
}

/** What waits beyond that is not sent. */
const QUEUED = 1_000;
/** A server that can not be reached is tried so often, so far apart; its refusal stands. */
const TRIES = 12;
const RETRY_MS = 10_000;

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

  constructor(parts: EventSenderParts) {
    this.#parts = parts;
  }

  /** Takes an event that is new, or was counted once more. */
  take(event: CoreEvent): void {
    const key = `${event.metadata.namespace}/${event.metadata.name}`;
    const waiting = this.#queue.get(key);
    if (waiting === undefined && this.#queue.size >= QUEUED) return;
    this.#queue.set(key, { event, isNew: waiting?.isNew ?? event.count === 1 });
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#send(next);
    this.#isSending = false;
  }

  #next(): Queued | undefined {
    const [first] = this.#queue;
    if (first === undefined || this.#parts.signal.aborted) return undefined;
    const [key, queued] = first;
    this.#queue.delete(key);
    return queued;
  }

  async #send(queued: Queued): Promise<void> {
    const { onError, signal, jitter } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#put(queued);
      } catch (cause) {
        if (signal.aborted) return;
        if (!(cause instanceof KubeError) && tries < TRIES)
          await this.#pause(tries === 1 ? RETRY_MS * jitter() : RETRY_MS);
        // Another try of it has reached the server.
        else if (isConflict(cause)) return;
        else return onError('events', failureOf(queued, cause));
        if (signal.aborted) return;
      }
    }
  }

  async #put({ event, isNew }: Queued): Promise<void> {
    const { client, signal } = this.#parts;
    const { count, lastTimestamp, message } = event;
    if (!isNew) {
      try {
        await client.patch(eventPath(event.metadata), { count, lastTimestamp, message }, { signal });
        return;
      } catch (error) {
        // The server keeps events for an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(eventsPath(event.metadata), sentEvent(event), { signal });
  }

  #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#parts;
    return new Promise((done) => {
      const end = () => {
        clock.clearTimeout(timer);
        signal.removeEventListener('abort', end);
        done();
      };
      const timer = clock.setTimeout(end, ms);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

/** Nodes are referred to by their name alone. */
function sentEvent({ involvedObject, metadata: { name, namespace }, ...event }: CoreEvent) {
  const { kind, name: of } = involvedObject;
  const involved = kind === 'Node' ? { kind, name: of, apiVersion: 'v1' } : involvedObject;
  return { ...event, metadata: { name, namespace }, involvedObject: involved, eventTime: null };
}

const failureOf = ({ event: { reason, metadata } }: Queued, cause: unknown): NodeFailure =>
  new NodeFailure('EventNotSent', `event ${reason} of ${metadata.namespace}/${metadata.name}: ${messageOf(cause)}`, {
    cause,
  });
