import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { NodeFailure } from '../base/failure.ts';
import type { Cri, RuntimeEvent } from './client/calls.ts';
import { closedConnectionFailure, runtimeFailure } from './client/failure.ts';
import { type Method, methodName } from './client/method.ts';
import { type Envelope, EventsService, TaskExit } from './generated/containerd_events.ts';
import { ContainerEventResponse, ContainerEventType, RuntimeServiceService } from './generated/runtime.ts';

/** Filter for exits of CRI containers. containerd's event service otherwise delivers the events of all its clients. */
const CRI_EXIT_FILTER = 'namespace==k8s.io,topic=="/tasks/exit"';

/**
 * The CRI's event stream, decoded without the statuses in each event. An event contains the statuses of all containers
 * of the pod, so decoding them would make the start of a pod quadratic in the number of its containers.
 */
const criEvents = { ...RuntimeServiceService.getContainerEvents, responseDeserialize: decodeEventWithoutStatuses };

/** Sends a cheap call on the connection of the event stream. Resolves when the response arrives. */
type SendRoundTrip = (signal: AbortSignal) => Promise<unknown>;

type EventOptions = Parameters<Cri['containerEvents']>[1];

/**
 * Subscribes to container exits on the CRI's event stream or, if the runtime does not implement it, on containerd's
 * event service. Resolves when the signal aborts and rejects when the stream breaks.
 *
 * Runtimes send no headers before the first event, so nothing confirms a subscription directly. `onOpen` is therefore
 * called when headers or an event arrive, or when two round trips sent sequentially after the subscription have
 * completed, because the runtime reads requests in order. This makes it very likely, but does not guarantee, that the
 * subscription is active. Callers must list containers once after `onOpen` and periodically from then on.
 */
export function createContainerEvents(client: Client, roundTrip: SendRoundTrip): Cri['containerEvents'] {
  return async (onEvent, options) => {
    try {
      await followStream(client, criEvents, {}, forwardExits(parseCriExit, onEvent), options, roundTrip);
    } catch (error) {
      if (!(error instanceof NodeFailure && error.reason === 'Unimplemented')) throw error;
      const request = { filters: [CRI_EXIT_FILTER] };
      await followStream(
        client,
        EventsService.subscribe,
        request,
        forwardExits(parseContainerdExit, onEvent),
        options,
        roundTrip,
      );
    }
  };
}

function forwardExits<Event>(
  parseExit: (event: Event) => RuntimeEvent | undefined,
  onEvent: (exit: RuntimeEvent) => void,
) {
  return (event: Event) => {
    const exitEvent = parseExit(event);
    if (exitEvent) onEvent(exitEvent);
  };
}

/**
 * Converts an event of the CRI. Returns undefined for events other than exits, because those are caused by our own
 * calls.
 */
function parseCriExit(event: ContainerEventResponse): RuntimeEvent | undefined {
  if (event.containerEventType !== ContainerEventType.CONTAINER_STOPPED_EVENT) return undefined;
  // The CRI reports `createdAt` in nanoseconds since the epoch, or 0 if the time is unknown.
  const createdAt = event.createdAt === 0n ? undefined : Number(event.createdAt / 1_000_000n);
  return { containerId: event.containerId, createdAt };
}

/**
 * Converts an event of containerd. Returns undefined if the ID of the exited process is not the container's, because in
 * that case an exec has exited.
 */
function parseContainerdExit(envelope: Envelope): RuntimeEvent | undefined {
  const taskExit = envelope.event && decodeTaskExit(envelope.event.value);
  const createdAt = envelope.timestamp?.getTime();
  return taskExit && taskExit.id === taskExit.containerId
    ? { containerId: taskExit.containerId, createdAt }
    : undefined;
}

function decodeTaskExit(bytes: Uint8Array): TaskExit | undefined {
  try {
    return TaskExit.decode(bytes);
  } catch {
    // An undecodable event is dropped, because the next list of containers will report the exit.
    return undefined;
  }
}

/** Follows an event stream. Resolves when the signal aborts and rejects when the stream ends or breaks. */
function followStream<Request, Event>(
  client: Client,
  method: Method<Request, Event>,
  request: Request,
  onEvent: (event: Event) => void,
  { signal, onOpen }: EventOptions,
  roundTrip: SendRoundTrip,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const name = methodName(method);
  const stream = openStream(client, method, request);
  const closeController = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const close = (failure: unknown) => {
    closeController.abort();
    signal.removeEventListener('abort', close);
    stream.cancel();
    if (signal.aborted) resolve();
    else reject(failure);
  };
  const reportOpenOnce = callOnce(() => closeController.signal.aborted || onOpen());
  signal.addEventListener('abort', close, { once: true });
  stream.on('metadata', reportOpenOnce);
  stream.on('data', (event: Event) => {
    reportOpenOnce();
    if (!closeController.signal.aborted) onEvent(event);
  });
  stream.on('error', (error: ServiceError) => close(runtimeFailure(name, error)));
  stream.on('end', () => close(new NodeFailure('RuntimeUnavailable', `${name}: the runtime ended the stream`)));
  retryOnce(() => roundTrip(closeController.signal)).then(reportOpenOnce, close);
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
    throw closedConnectionFailure(methodName(method), error);
  }
}

async function retryOnce(action: () => Promise<unknown>): Promise<void> {
  await action();
  await action();
}

function callOnce(action: () => void): () => void {
  let hasRun = false;
  return () => {
    if (hasRun) return;
    hasRun = true;
    action();
  };
}

/**
 * Number of the last field of `ContainerEventResponse` to decode. Fields 1 to 3 are the ID, the type and the time of
 * creation.
 */
const DECODED_FIELDS = 3;

/** Decodes an event except for the statuses of the sandbox and the containers, which stay empty. */
export function decodeEventWithoutStatuses(bytes: Uint8Array): ContainerEventResponse {
  const reader = new BinaryReader(bytes);
  const decodedFields: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const fieldStart = reader.pos;
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
    if (field <= DECODED_FIELDS) decodedFields.push(bytes.subarray(fieldStart, reader.pos));
  }
  return ContainerEventResponse.decode(Buffer.concat(decodedFields));
}
