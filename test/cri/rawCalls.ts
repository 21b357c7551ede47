import { Client, credentials, type MethodDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../cri/generated/runtime.ts';
import type { CallName, RequestOf, ResponseOf } from '../../cri/simulated/faults/callNames.ts';

/** Calls to a runtime over its socket that follow the protocol of any client, without the limits of the agent. */
export interface RawCalls {
  readonly call: <K extends CallName>(name: K, request: RequestOf<K>) => Promise<ResponseOf<K>>;
  readonly close: () => void;
}

/** Connects to an endpoint such as `unix:///run/containerd/containerd.sock`. */
export function rawCalls(endpoint: string): RawCalls {
  const client = new Client(endpoint, credentials.createInsecure());
  const call = <K extends CallName>(name: K, request: RequestOf<K>) =>
    new Promise<ResponseOf<K>>((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = methodOf(name);
      const deadline = Date.now() + 60_000;
      const done = (error: ServiceError | null, answer?: ResponseOf<K>) =>
        answer === undefined ? reject(error) : resolve(answer);
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, { deadline }, done);
    });
  return { call, close: () => client.close() };
}

function methodOf<K extends CallName>(name: K): MethodDefinition<RequestOf<K>, ResponseOf<K>> {
  const methods: object = { ...RuntimeServiceService, ...ImageServiceService };
  // Call names equal the method names of the protocol, so each method has these message types.
  return (methods as Record<CallName, MethodDefinition<RequestOf<K>, ResponseOf<K>>>)[name];
}

/** Returns `OK`, or the name of the status code. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'OK';
  } catch (error) {
    return error instanceof Error && 'code' in error ? (status[Number(error.code)] ?? 'no code') : 'no code';
  }
}
