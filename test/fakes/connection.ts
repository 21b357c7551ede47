import { NodeFailure } from '../../base/failure.ts';
import type { CallOptions, Cri, CriCall } from '../../cri/client/calls.ts';
import type { CallName } from '../../cri/simulated/faults/callNames.ts';
import { inProcessCri } from '../../cri/simulated/inProcessCri.ts';
import type { SimulatedRuntime } from '../../cri/simulated/runtime.ts';

/**
 * The call at which an agent dies, counted from 1. The runtime does not execute it (`undone`), or executes it but the
 * response is lost (`unheard`).
 */
export interface Death {
  readonly atCall: number;
  readonly callIs: 'undone' | 'unheard';
}

export interface ConnectionOptions {
  readonly runtime: SimulatedRuntime;
  /** Whether the runtime has an event stream. */
  readonly eventStream: boolean;
  readonly death: Death | undefined;
  readonly onDeath: () => void;
}

/**
 * The connection of one agent to the runtime. It can be cut at any call. After that no request is sent and no response
 * received.
 */
export interface Connection {
  readonly cri: Cri;
  /** The calls of the agent, in order. */
  readonly calls: readonly CallName[];
  readonly cut: () => void;
}

const never = new AbortController().signal;

export function connect({ runtime, eventStream, death, onDeath }: ConnectionOptions): Connection {
  const cri = inProcessCri(runtime);
  const end = new AbortController();
  const calls: CallName[] = [];
  const dies = (): boolean => death !== undefined && calls.length === death.atCall;

  async function call<Request, Answer>(
    name: CallName,
    make: CriCall<Request, Answer>,
    request: Request,
    options: CallOptions,
  ): Promise<Answer> {
    if (end.signal.aborted) return forever();
    calls.push(name);
    const fatal = dies();
    const unheard = fatal && death?.callIs === 'unheard';
    const signal = unheard ? never : AbortSignal.any([options.signal, end.signal]);
    const answer = make(request, { ...options, signal });
    if (fatal) {
      end.abort();
      onDeath();
    }
    try {
      return end.signal.aborted ? await forever(answer) : await answer;
    } catch (error) {
      if (end.signal.aborted) return forever();
      throw error;
    }
  }

  const through = Object.fromEntries(
    Object.entries(cri).map(([name, make]) => [
      name,
      // The two properties that are not calls are replaced below.
      (request: never, options: CallOptions) => call(name as CallName, make as CriCall<never, never>, request, options),
    ]),
  );
  return {
    calls,
    cut: () => end.abort(),
    cri: {
      ...(through as unknown as Cri),
      containerEvents: (onEvent, options) =>
        eventStream
          ? cri.containerEvents(onEvent, { ...options, signal: AbortSignal.any([options.signal, end.signal]) })
          : Promise.reject(new NodeFailure('Unimplemented', 'GetContainerEvents: unknown method')),
      close: cri.close,
    },
  };
}

/** Returns a promise that never settles. The result of the call remains visible at the runtime. */
function forever(call?: Promise<unknown>): Promise<never> {
  call?.catch(() => {});
  return new Promise(() => {});
}
