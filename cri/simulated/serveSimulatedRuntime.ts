import { rm } from 'node:fs/promises';
import {
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { ContainerEventResponse, GetEventsRequest } from '../generated/runtime.ts';
import { ImageServiceService, PodSandboxStatus, RuntimeServiceService } from '../generated/runtime.ts';
import { millisToNanos } from './clock.ts';
import { CallError } from './faults/callError.ts';
import type { CallName, RequestOf, ResponseOf } from './faults/callNames.ts';
import { CALL_NAMES } from './faults/latency.ts';
import type { RuntimeEvent } from './objects/events.ts';
import type { SimulatedRuntime } from './runtime.ts';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Serves a simulated runtime over gRPC on a unix socket, replacing an existing socket. Calls that are not simulated
 * fail with UNIMPLEMENTED.
 */
export async function serveSimulatedRuntime(
  runtime: SimulatedRuntime,
  socketPath: string,
): Promise<{ close: () => Promise<void> }> {
  const server = new Server({
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  });
  const streams = { getContainerEvents: createEventHandler(runtime) };
  server.addService(RuntimeServiceService, { ...createHandlers(runtime, RuntimeServiceService), ...streams });
  server.addService(ImageServiceService, createHandlers(runtime, ImageServiceService));
  await rm(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  const close = async () => {
    server.forceShutdown();
    await rm(socketPath, { force: true });
  };
  return { close };
}

/** Returns the handlers of the simulated calls of a service. */
function createHandlers(runtime: SimulatedRuntime, service: object): UntypedServiceImplementation {
  const calls = CALL_NAMES.filter((call) => Object.hasOwn(service, call));
  return Object.fromEntries(calls.map((call) => [call, createHandler(runtime, call)]));
}

function createHandler<K extends CallName>(
  runtime: SimulatedRuntime,
  call: K,
): handleUnaryCall<RequestOf<K>, ResponseOf<K>> {
  return (incoming, respond) => {
    const cancelController = new AbortController();
    incoming.on('cancelled', () => cancelController.abort());
    runtime.call(call, incoming.request, cancelController.signal).then(
      (value) => respond(null, value),
      (error: unknown) => respond(toCallError(error)),
    );
  };
}

function toCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError('INTERNAL', String(error));
}

function createEventHandler(runtime: SimulatedRuntime) {
  return (stream: ServerWritableStream<GetEventsRequest, ContainerEventResponse>) => {
    const unsubscribe = runtime.subscribe({
      onEvent: (event) => stream.write(eventMessage(runtime, event)),
      onBreak: (error) => stream.emit('error', error),
    });
    stream.on('cancelled', unsubscribe);
    // Send the headers immediately, because they confirm to the client that the subscription is active.
    if (runtime.isUp) stream.sendMetadata(new Metadata());
  };
}

function eventMessage(
  runtime: SimulatedRuntime,
  { type, id, sandboxId, podUid, at }: RuntimeEvent,
): ContainerEventResponse {
  const podStatuses = runtime.podStatuses(sandboxId) ?? {
    podSandboxStatus: PodSandboxStatus.create({ id: sandboxId, metadata: { uid: podUid } }),
    containersStatuses: [],
  };
  return { containerId: id, containerEventType: type, createdAt: millisToNanos(at), ...podStatuses };
}
