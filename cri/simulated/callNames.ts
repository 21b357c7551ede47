import type { Cri } from '../calls.ts';

/** A call with one answer, by its name in `Cri`. */
export type CallName = Exclude<keyof Cri, 'containerEvents' | 'close'>;

export type RequestOf<K extends CallName> = Parameters<Cri[K]>[0];

export type AnswerOf<K extends CallName> = Awaited<ReturnType<Cri[K]>>;

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
