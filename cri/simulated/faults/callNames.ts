import type { Cri, CriCall } from '../../client/calls.ts';
import type * as wire from '../../generated/runtime.ts';

/** The calls that the runtime simulates, including calls that `crictl` makes but the node agent does not. */
interface SimulatedCalls extends Omit<Cri, 'containerEvents' | 'close'> {
  readonly podSandboxStats: CriCall<wire.PodSandboxStatsRequest, wire.PodSandboxStatsResponse>;
}

/** Name of a unary call. */
export type CallName = keyof SimulatedCalls;

export type RequestOf<K extends CallName> = Parameters<SimulatedCalls[K]>[0];

export type ResponseOf<K extends CallName> = Awaited<ReturnType<SimulatedCalls[K]>>;

/** A received call, whether or not it has completed. */
export interface LoggedCall {
  readonly call: CallName;
  readonly request: unknown;
  /** When the call was received, in milliseconds since the epoch. */
  readonly at: number;
}

/** Implementations of all calls. The signal cancels a call. */
export type Operations = {
  readonly [K in CallName]: (request: RequestOf<K>, signal: AbortSignal) => Promise<ResponseOf<K>>;
};
