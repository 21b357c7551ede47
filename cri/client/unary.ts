import type { Client, ServiceError } from '@grpc/grpc-js';
import { startTimeLimit } from '../../base/timeLimit.ts';
import type { Turns } from '../../base/turns.ts';
import type { CriCall } from './calls.ts';
import { cancelledFailure, closedConnectionFailure, runtimeFailure, timeoutFailure } from './failure.ts';
import { type Method, methodName } from './method.ts';

/** Client of a runtime. If there are many calls, they start over several turns of the event loop. */
export interface PacedClient {
  readonly client: Client;
  readonly turns: Turns;
}

/**
 * Returns a function that calls a CRI method. The call settles when the response or the runtime's failure arrives, the
 * timeout expires or the signal aborts. `defaultLimitMs` returns the default timeout of a request in milliseconds, or
 * undefined for no limit.
 */
export function unary<Request, Response>(
  { client, turns }: PacedClient,
  method: Method<Request, Response>,
  defaultLimitMs: (request: Request) => number | undefined,
): CriCall<Request, Response> {
  const name = methodName(method);
  return async (request, { signal, timeoutMs }) => {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    if (signal.aborted) throw cancelledFailure(name, signal.reason);
    const limitMs = timeoutMs ?? defaultLimitMs(request);
    const limit = limitMs === undefined ? undefined : startTimeLimit(limitMs);
    const toFailure = (error: ServiceError) => {
      if (signal.aborted) return cancelledFailure(name, signal.reason);
      return limit?.signal.aborted ? timeoutFailure(name, limitMs ?? 0, error) : runtimeFailure(name, error);
    };
    const signals = [signal, ...(limit ? [limit.signal] : [])];
    let response: Promise<Response>;
    try {
      response = sendRequest(client, method, request, signals, toFailure);
    } catch (error) {
      limit?.clear();
      throw closedConnectionFailure(name, error);
    }
    return response.finally(limit?.clear);
  };
}

function sendRequest<Request, Response>(
  client: Client,
  method: Method<Request, Response>,
  request: Request,
  signals: readonly AbortSignal[],
  toFailure: (error: ServiceError) => Error,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const call = client.makeUnaryRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
    (error: ServiceError | null, response?: Response) => {
      for (const signal of signals) signal.removeEventListener('abort', cancel);
      if (error) reject(toFailure(error));
      else if (response !== undefined) resolve(response);
    },
  );
  const cancel = () => call.cancel();
  for (const signal of signals) signal.addEventListener('abort', cancel, { once: true });
  return promise;
}
