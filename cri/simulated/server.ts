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
import { CallError } from './callError.ts';
import type { AnswerOf, CallName, RequestOf } from './callNames.ts';
import { nanoseconds } from './clock.ts';
import type { RuntimeEvent } from './events.ts';
import { CALLS } from './latency.ts';
import type { SimulatedRuntime } from './runtime.ts';

const MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Serves a simulated runtime over gRPC on a unix socket, which it takes over if it is there. Calls that are not
 * simulated answer UNIMPLEMENTED. Returns the way to close it.
 */
export async function serveSimulatedRuntime(
  runtime: SimulatedRuntime,
  socketPath: string,
): Promise<{ close: () => Promise<void> }> {
  const server = new Server({
    'grpc.max_send_message_length': MESSAGE_BYTES,
    'grpc.max_receive_message_length': MESSAGE_BYTES,
  });
  const streams = { getContainerEvents: streamEvents(runtime) };
  server.addService(RuntimeServiceService, { ...handlers(runtime, RuntimeServiceService), ...streams });
  server.addService(ImageServiceService, handlers(runtime, ImageServiceService));
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

/** The calls of a service that are simulated. */
function handlers(runtime: SimulatedRuntime, service: object): UntypedServiceImplementation {
  const calls = CALLS.filter((call) => Object.hasOwn(service, call));
  return Object.fromEntries(calls.map((call) => [call, handler(runtime, call)]));
}

function handler<K extends CallName>(runtime: SimulatedRuntime, call: K): handleUnaryCall<RequestOf<K>, AnswerOf<K>> {
  return (incoming, answer) => {
    const cancel = new AbortController();
    incoming.on('cancelled', () => cancel.abort());
    runtime.call(call, incoming.request, cancel.signal).then(
      (value) => answer(null, value),
      (error: unknown) => answer(asCallError(error)),
    );
  };
}

function asCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError('INTERNAL', String(error));
}

function streamEvents(runtime: SimulatedRuntime) {
  return (stream: ServerWritableStream<GetEventsRequest, ContainerEventResponse>) => {
    const unsubscribe = runtime.subscribe({
      onEvent: (event) => stream.write(eventMessage(runtime, event)),
      onBreak: (error) => stream.emit('error', error),
    });
    stream.on('cancelled', unsubscribe);
    // Headers at once: they tell the client that from now on it misses nothing.
    if (runtime.isUp) stream.sendMetadata(new Metadata());
  };
}

function eventMessage(
  runtime: SimulatedRuntime,
  { type, id, sandboxId, podUid, at }: RuntimeEvent,
): ContainerEventResponse {
  const picture = runtime.picture(sandboxId) ?? {
    podSandboxStatus: PodSandboxStatus.create({ id: sandboxId, metadata: { uid: podUid } }),
    containersStatuses: [],
  };
  return { containerId: id, containerEventType: type, createdAt: nanoseconds(at), ...picture };
}
