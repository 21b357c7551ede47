import type { Client, ServiceError } from '@grpc/grpc-js';
import { startTimeLimit } from '../../base/timeLimit.ts';
import type { CriCall } from './calls.ts';
import { cancelledFailure, closedConnectionFailure, runtimeFailure, timeoutFailure } from './failure.ts';
import { type Method, methodName } from './method.ts';

/**
 * Returns a CRI method as a call, which settles on the response, the runtime's failure, the timeout or the signal.
 * `defaultLimitMs` returns the default timeout of a request in milliseconds, or undefined for no limit.
 */
export function unary<Request, Response>(
  client: Client,
  method: Method<Request, Response>,
  defaultLimitMs: (request: Request) => number | undefined,
): CriCall<Request, Response> {
  const name = methodName(method);
  return (request, { signal, timeoutMs }) => {
    if (signal.aborted) return Promise.reject(cancelledFailure(name, signal.reason));
    const limitMs = timeoutMs ?? defaultLimitMs(request);
    const limit = limitMs === undefined ? undefined : startTimeLimit(limitMs);
    const toFailure = (error: ServiceError) => {
      if (signal.aborted) return cancelledFailure(name, signal.reason);
      return limit?.signal.aborted ? timeoutFailure(name, limitMs ?? 0, error) : runtimeFailure(name, error);
    };
    try {
      return sendRequest(client, method, request, [signal, ...(limit ? [limit.signal] : [])], toFailure).finally(
        limit?.clear,
      );
    } catch (error) {
      return Promise.reject(closedConnectionFailure(name, error));
    }
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
