import { Client, credentials, type MethodDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../cri/generated/runtime.ts';
import type { CallName, RequestOf, ResponseOf } from '../../cri/simulated/faults/callNames.ts';

/** The calls of a runtime behind a socket, just as the protocol has them: any client's, without the agent's limits. */
export interface RawCalls {
  readonly call: <K extends CallName>(name: K, request: RequestOf<K>) => Promise<ResponseOf<K>>;
  readonly close: () => void;
}

/** The endpoint looks like `unix:///run/containerd/containerd.sock`. */
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
  // The names of calls are those of the protocol's methods, of these very messages.
  return (methods as Record<CallName, MethodDefinition<RequestOf<K>, ResponseOf<K>>>)[name];
}

/** What a call comes to: `OK`, or the name of its code. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'OK';
  } catch (error) {
    return error instanceof Error && 'code' in error ? (status[Number(error.code)] ?? 'no code') : 'no code';
  }
}
