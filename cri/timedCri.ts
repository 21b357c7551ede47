/** A runtime whose calls are timed, for who counts them. */
import type { CallOptions, Cri } from './calls.ts';

/** The calls that are asked and answered: all but the stream of events. */
export type CriOperation = Exclude<keyof Cri, 'containerEvents' | 'close'>;

/** A call that has come to its end. */
export interface TimedCall {
  readonly operation: CriOperation;
  readonly request: unknown;
  readonly ms: number;
  readonly hasFailed: boolean;
}

type AnyCall = (request: unknown, options: CallOptions) => Promise<unknown>;

/** The same runtime: `tell` hears of each call once it has ended, by the clock that is given. It must not throw. */
export function timedCri(cri: Cri, monotonic: () => number, tell: (call: TimedCall) => void): Cri {
  const timed = (operation: CriOperation, call: AnyCall): AnyCall => {
    return (request, options) => {
      const begunAt = monotonic();
      const answer = call(request, options);
      const ended = (hasFailed: boolean) => tell({ operation, request, ms: monotonic() - begunAt, hasFailed });
      answer.then(
        () => ended(false),
        () => ended(true),
      );
      return answer;
    };
  };
  const { containerEvents, close, ...calls } = cri;
  const all = Object.entries(calls).map(([name, call]) => [name, timed(name as CriOperation, call as AnyCall)]);
  // Each takes and gives what the one that it stands for does.
  return { ...(Object.fromEntries(all) as Omit<Cri, 'containerEvents' | 'close'>), containerEvents, close };
}
