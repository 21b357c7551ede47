import type { Cri, CriCall } from '../calls.ts';
import type * as wire from '../generated/runtime.ts';

/** The calls that are served: those of the node agent, and what `crictl` asks for besides. */
interface Served extends Omit<Cri, 'containerEvents' | 'close'> {
  readonly podSandboxStats: CriCall<wire.PodSandboxStatsRequest, wire.PodSandboxStatsResponse>;
}

/** A call with one answer, by its name in the protocol. */
export type CallName = keyof Served;

export type RequestOf<K extends CallName> = Parameters<Served[K]>[0];

export type AnswerOf<K extends CallName> = Awaited<ReturnType<Served[K]>>;

/** A call that arrived, answered or not. */
export interface LoggedCall {
  readonly call: CallName;
  readonly request: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Every call as the runtime does it: on wire messages, until the signal ends it. */
export type Operations = {
  readonly [K in CallName]: (request: RequestOf<K>, signal: AbortSignal) => Promise<AnswerOf<K>>;
};
