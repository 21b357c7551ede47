import type { Client, ServiceError } from '@grpc/grpc-js';
import type { TurnLimiter } from '../../base/async/turnLimiter.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import type { CriCall } from './calls.ts';
import { cancelledFailure, closedConnectionFailure, runtimeFailure, timeoutFailure } from './failure.ts';
import { type Method, methodName } from './method.ts';

/** Runtime client that spreads a burst of calls over several turns of the event loop. */
export interface PacedClient {
  readonly client: Client;
  readonly turnScheduler: TurnLimiter;
}

/**
 * Returns a function that calls a CRI method. The call settles when the response or the runtime's failure arrives, the
 * timeout expires or the signal aborts. `defaultTimeoutMs` returns the default timeout of a request in milliseconds, or
 * undefined for no limit.
 */
export function createUnaryCall<Request, Response>(
  { client, turnScheduler }: PacedClient,
  method: Method<Request, Response>,
  defaultTimeoutMs: (request: Request) => number | undefined,
): CriCall<Request, Response> {
  const name = methodName(method);
  return async (request, { signal, timeoutMs }) => {
    const nextTurn = turnScheduler.acquire();
    if (nextTurn !== undefined) await nextTurn;
    if (signal.aborted) throw cancelledFailure(name, signal.reason);
    const effectiveTimeoutMs = timeoutMs ?? defaultTimeoutMs(request);
    const timeLimit = effectiveTimeoutMs === undefined ? undefined : startTimeLimit(effectiveTimeoutMs);
    const toFailure = (error: ServiceError) => {
      if (signal.aborted) return cancelledFailure(name, signal.reason);
      return timeLimit?.signal.aborted
        ? timeoutFailure(name, effectiveTimeoutMs ?? 0, error)
        : runtimeFailure(name, error);
    };
    const abortSignals = [signal, ...(timeLimit ? [timeLimit.signal] : [])];
    let response: Promise<Response>;
    try {
      response = sendRequest(client, method, request, abortSignals, toFailure);
    } catch (error) {
      timeLimit?.clear();
      throw closedConnectionFailure(name, error);
    }
    return response.finally(timeLimit?.clear);
  };
}

function sendRequest<Request, Response>(
  client: Client,
  method: Method<Request, Response>,
  request: Request,
  abortSignals: readonly AbortSignal[],
  toFailure: (error: ServiceError) => Error,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const call = client.makeUnaryRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
    (error: ServiceError | null, response?: Response) => {
      for (const signal of abortSignals) signal.removeEventListener('abort', cancel);
      if (error) reject(toFailure(error));
      else if (response !== undefined) resolve(response);
    },
  );
  const cancel = () => call.cancel();
  for (const signal of abortSignals) signal.addEventListener('abort', cancel, { once: true });
  return promise;
}
