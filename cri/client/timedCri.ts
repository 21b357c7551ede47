/** Wraps a client of a runtime in order to measure the duration of its calls. */
import type { CallOptions, Cri } from './calls.ts';

/** Name of a unary call. */
export type CriOperation = Exclude<keyof Cri, 'containerEvents' | 'close'>;

/** A completed call and its duration. */
export interface TimedCall {
  readonly operation: CriOperation;
  readonly request: unknown;
  readonly ms: number;
  readonly hasFailed: boolean;
}

type UntypedCall = (request: unknown, options: CallOptions) => Promise<unknown>;

/**
 * Returns a client that reports every call to `onCompleted` when it completes, with the duration measured by
 * `monotonic`. `onCompleted` must not throw.
 */
export function withCallTiming(cri: Cri, monotonic: () => number, onCompleted: (call: TimedCall) => void): Cri {
  const withTiming = (operation: CriOperation, call: UntypedCall): UntypedCall => {
    return (request, options) => {
      const startedAt = monotonic();
      const response = call(request, options);
      const reportCall = (hasFailed: boolean) =>
        onCompleted({ operation, request, ms: monotonic() - startedAt, hasFailed });
      response.then(
        () => reportCall(false),
        () => reportCall(true),
      );
      return response;
    };
  };
  const { containerEvents, close, ...calls } = cri;
  const timedCalls = Object.entries(calls).map(([name, call]) => [
    name,
    withTiming(name as CriOperation, call as UntypedCall),
  ]);
  // Safe cast, because each function has the same parameters and result as the function that it wraps.
  return { ...(Object.fromEntries(timedCalls) as Omit<Cri, 'containerEvents' | 'close'>), containerEvents, close };
}
