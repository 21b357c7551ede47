import type { Client, ServiceError } from '@grpc/grpc-js';
import { startLimit } from '../base/limit.ts';
import type { CriCall } from './calls.ts';
import { cancelledFailure, closedFailure, hangingFailure, runtimeFailure } from './failure.ts';
import { type Method, methodName } from './method.ts';

/**
 * A method of the CRI as a call: it ends with the answer, with the runtime's failure, at its time limit or by the signal.
 * `limitOf` gives the limit in milliseconds of a request that names none; undefined is no limit.
 */
export function unary<Request, Answer>(
  client: Client,
  method: Method<Request, Answer>,
  limitOf: (request: Request) => number | undefined,
): CriCall<Request, Answer> {
  const name = methodName(method);
  return (request, { signal, timeoutMs }) => {
    if (signal.aborted) return Promise.reject(cancelledFailure(name, signal.reason));
    const limitMs = timeoutMs ?? limitOf(request);
    const limit = limitMs === undefined ? undefined : startLimit(limitMs);
    const ended = (error: ServiceError) => {
      if (signal.aborted) return cancelledFailure(name, signal.reason);
      return limit?.signal.aborted ? hangingFailure(name, limitMs ?? 0, error) : runtimeFailure(name, error);
    };
    try {
      return send(client, method, request, [signal, ...(limit ? [limit.signal] : [])], ended).finally(limit?.end);
    } catch (error) {
      return Promise.reject(closedFailure(name, error));
    }
  };
}

function send<Request, Answer>(
  client: Client,
  method: Method<Request, Answer>,
  request: Request,
  signals: readonly AbortSignal[],
  ended: (error: ServiceError) => Error,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const call = client.makeUnaryRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
    (error: ServiceError | null, answer?: Answer) => {
      for (const signal of signals) signal.removeEventListener('abort', cancel);
      if (error) reject(ended(error));
      else if (answer !== undefined) resolve(answer);
    },
  );
  const cancel = () => call.cancel();
  for (const signal of signals) signal.addEventListener('abort', cancel, { once: true });
  return promise;
}
