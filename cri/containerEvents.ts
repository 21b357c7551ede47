import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { NodeFailure } from '../base/failure.ts';
import type { Cri, RuntimeEvent } from './calls.ts';
import { closedFailure, runtimeFailure } from './failure.ts';
import { type Envelope, EventsService, TaskExit } from './generated/containerd_events.ts';
import { type ContainerEventResponse, ContainerEventType, RuntimeServiceService } from './generated/runtime.ts';
import { type Method, methodName } from './method.ts';

/** containerd's own event service carries every client's events: only the exits of the CRI's containers are asked for. */
const EXITS_OF_CRI_CONTAINERS = 'namespace==k8s.io,topic=="/tasks/exit"';

/** Any quick call to the same runtime over the same connection. */
type RoundTrip = (signal: AbortSignal) => Promise<unknown>;

type EventOptions = Parameters<Cri['containerEvents']>[1];

/**
 * Exits from the CRI's event stream or, on a runtime without it, from containerd's event service on the same
 * socket. Resolves when the signal aborts; rejects when the stream breaks.
 *
 * When `onOpen` is called: runtimes send no headers before their first event, so a subscription has no answer of its
 * own. Either its headers or first event came, or two calls sent after it on the same connection, one after the other,
 * have been answered; the runtime reads requests in order, so it had the subscription before both. That it had also
 * entered it in its books is as good as certain but not promised: list once after `onOpen`, and go on listing at times.
 */
export function eventsOver(client: Client, roundTrip: RoundTrip): Cri['containerEvents'] {
  return async (onEvent, options) => {
    try {
      await follow(
        client,
        RuntimeServiceService.getContainerEvents,
        {},
        tell(eventFromCri, onEvent),
        options,
        roundTrip,
      );
    } catch (error) {
      if (!(error instanceof NodeFailure && error.reason === 'Unimplemented')) throw error;
      const request = { filters: [EXITS_OF_CRI_CONTAINERS] };
      await follow(client, EventsService.subscribe, request, tell(eventFromContainerd, onEvent), options, roundTrip);
    }
  };
}

function tell<Event>(read: (event: Event) => RuntimeEvent | undefined, onEvent: (exit: RuntimeEvent) => void) {
  return (event: Event) => {
    const exit = read(event);
    if (exit) onEvent(exit);
  };
}

/** Only exits: what else the stream tells of are our own calls, whose answers we have. */
function eventFromCri(event: ContainerEventResponse): RuntimeEvent | undefined {
  if (event.containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT) return undefined;
  // In nanoseconds since the epoch. 0 if the runtime does not say.
  const createdAt = event.createdAt === 0n ? undefined : Number(event.createdAt / 1_000_000n);
  return { containerId: event.containerId, createdAt };
}

/** An exit whose id is not its container's is that of an exec in it. */
function eventFromContainerd(envelope: Envelope): RuntimeEvent | undefined {
  const exit = envelope.event && taskExit(envelope.event.value);
  const createdAt = envelope.timestamp?.getTime();
  return exit && exit.id === exit.containerId ? { containerId: exit.containerId, createdAt } : undefined;
}

function taskExit(bytes: Uint8Array): TaskExit | undefined {
  try {
    return TaskExit.decode(bytes);
  } catch {
    // An event that cannot be read is lost, and made up for by the next list.
    return undefined;
  }
}

/** Follows one stream of events: resolves when the signal aborts, rejects when the stream ends or breaks. */
function follow<Request, Event>(
  client: Client,
  method: Method<Request, Event>,
  request: Request,
  onEvent: (event: Event) => void,
  { signal, onOpen }: EventOptions,
  roundTrip: RoundTrip,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const name = methodName(method);
  const stream = openStream(client, method, request);
  const over = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const end = (failure: unknown) => {
    over.abort();
    signal.removeEventListener('abort', end);
    stream.cancel();
    if (signal.aborted) resolve();
    else reject(failure);
  };
  const open = once(() => over.signal.aborted || onOpen());
  signal.addEventListener('abort', end, { once: true });
  stream.on('metadata', open);
  stream.on('data', (event: Event) => {
    open();
    if (!over.signal.aborted) onEvent(event);
  });
  stream.on('error', (error: ServiceError) => end(runtimeFailure(name, error)));
  stream.on('end', () => end(new NodeFailure('RuntimeUnavailable', `${name}: the runtime ended the stream`)));
  twice(() => roundTrip(over.signal)).then(open, end);
  return promise;
}

function openStream<Request, Event>(
  client: Client,
  method: Method<Request, Event>,
  request: Request,
): ClientReadableStream<Event> {
  const { path, requestSerialize, responseDeserialize } = method;
  try {
    return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
  } catch (error) {
    throw closedFailure(methodName(method), error);
  }
}

async function twice(act: () => Promise<unknown>): Promise<void> {
  await act();
  await act();
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
