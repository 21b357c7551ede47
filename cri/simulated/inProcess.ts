import type { CallOptions, Cri, CriCall } from '../client/calls.ts';
import { cancelledFailure, runtimeFailure, timeoutFailure } from '../client/failure.ts';
import { CallError } from './faults/callError.ts';
import type { CallName, RequestOf, ResponseOf } from './faults/callNames.ts';
import { withEitherSignal } from './faults/underBoth.ts';
import { isExit } from './objects/events.ts';
import type { SimulatedRuntime } from './runtime.ts';

/** Default timeout of a call in milliseconds, equal to the kubelet's default runtimeRequestTimeout. */
const REQUEST_TIMEOUT_MS = 120_000;

/** The runtime, or a proxy between it and one of its clients. */
export type CallableRuntime = Pick<SimulatedRuntime, 'call' | 'subscribe' | 'isUp' | 'clock'>;

/**
 * Provides the CRI of a simulated runtime without a socket, with the same responses and failures as over gRPC. Timeouts
 * run on the runtime's clock.
 */
export function inProcessCri(
  runtime: CallableRuntime,
  { requestTimeoutMs = REQUEST_TIMEOUT_MS }: { requestTimeoutMs?: number } = {},
): Cri {
  const defaultLimit = () => requestTimeoutMs;
  // The timeout in the request is added to the time limit for the runtime's response.
  const extendedLimit = ({ timeout }: { timeout: bigint }) => requestTimeoutMs + Number(timeout) * 1000;
  return {
    version: callWithLimit(runtime, 'version', defaultLimit),
    status: callWithLimit(runtime, 'status', defaultLimit),
    updateRuntimeConfig: callWithLimit(runtime, 'updateRuntimeConfig', defaultLimit),
    runtimeConfig: callWithLimit(runtime, 'runtimeConfig', defaultLimit),
    runPodSandbox: callWithLimit(runtime, 'runPodSandbox', defaultLimit),
    stopPodSandbox: callWithLimit(runtime, 'stopPodSandbox', defaultLimit),
    removePodSandbox: callWithLimit(runtime, 'removePodSandbox', defaultLimit),
    podSandboxStatus: callWithLimit(runtime, 'podSandboxStatus', defaultLimit),
    listPodSandbox: callWithLimit(runtime, 'listPodSandbox', defaultLimit),
    createContainer: callWithLimit(runtime, 'createContainer', defaultLimit),
    startContainer: callWithLimit(runtime, 'startContainer', defaultLimit),
    stopContainer: callWithLimit(runtime, 'stopContainer', extendedLimit),
    removeContainer: callWithLimit(runtime, 'removeContainer', defaultLimit),
    listContainers: callWithLimit(runtime, 'listContainers', defaultLimit),
    containerStatus: callWithLimit(runtime, 'containerStatus', defaultLimit),
    reopenContainerLog: callWithLimit(runtime, 'reopenContainerLog', defaultLimit),
    updateContainerResources: callWithLimit(runtime, 'updateContainerResources', defaultLimit),
    checkpointContainer: callWithLimit(runtime, 'checkpointContainer', defaultLimit),
    ...statsCalls(runtime, defaultLimit),
    execSync: callWithLimit(runtime, 'execSync', extendedLimit),
    ...streamCalls(runtime, defaultLimit),
    listImages: callWithLimit(runtime, 'listImages', defaultLimit),
    imageStatus: callWithLimit(runtime, 'imageStatus', defaultLimit),
    pullImage: callWithLimit(runtime, 'pullImage', () => undefined),
    removeImage: callWithLimit(runtime, 'removeImage', defaultLimit),
    containerEvents: (onEvent, options) => containerEvents(runtime, onEvent, options),
    close: () => {},
  };
}

const statsCalls = (
  runtime: CallableRuntime,
  defaultLimit: () => number,
): Pick<Cri, 'containerStats' | 'listContainerStats' | 'listPodSandboxStats' | 'imageFsInfo'> => ({
  containerStats: callWithLimit(runtime, 'containerStats', defaultLimit),
  listContainerStats: callWithLimit(runtime, 'listContainerStats', defaultLimit),
  listPodSandboxStats: callWithLimit(runtime, 'listPodSandboxStats', defaultLimit),
  imageFsInfo: callWithLimit(runtime, 'imageFsInfo', defaultLimit),
});

const streamCalls = (
  runtime: CallableRuntime,
  defaultLimit: () => number,
): Pick<Cri, 'exec' | 'attach' | 'portForward'> => ({
  exec: callWithLimit(runtime, 'exec', defaultLimit),
  attach: callWithLimit(runtime, 'attach', defaultLimit),
  portForward: callWithLimit(runtime, 'portForward', defaultLimit),
});

function callWithLimit<K extends CallName>(
  runtime: CallableRuntime,
  call: K,
  defaultLimitMs: (request: RequestOf<K>) => number | undefined,
): CriCall<RequestOf<K>, ResponseOf<K>> {
  const name = methodName(call);
  return async (request, { signal, timeoutMs }: CallOptions): Promise<ResponseOf<K>> => {
    if (signal.aborted) throw cancelledFailure(name, signal.reason);
    const limitMs = timeoutMs ?? defaultLimitMs(request);
    const limit = new AbortController();
    const timer = limitMs === undefined ? undefined : runtime.clock.setTimeout(() => limit.abort(), limitMs);
    try {
      return await withEitherSignal(signal, limit.signal, (either) => runtime.call(call, request, either));
    } catch (error) {
      if (signal.aborted) throw cancelledFailure(name, signal.reason);
      if (limit.signal.aborted) throw timeoutFailure(name, limitMs ?? 0, error);
      throw error instanceof CallError ? runtimeFailure(name, error) : error;
    } finally {
      if (timer !== undefined) runtime.clock.clearTimeout(timer);
    }
  };
}

function containerEvents(
  runtime: CallableRuntime,
  onEvent: Parameters<Cri['containerEvents']>[0],
  { signal, onOpen }: Parameters<Cri['containerEvents']>[1],
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const stop = () => {
      unsubscribe();
      resolve();
    };
    const unsubscribe = runtime.subscribe({
      onEvent: (event) => {
        // The CRI sends 0 for an unknown time.
        if (isExit(event)) onEvent({ containerId: event.id, createdAt: event.at === 0 ? undefined : event.at });
      },
      onBreak: (error) => {
        signal.removeEventListener('abort', stop);
        reject(runtimeFailure('GetContainerEvents', error));
      },
    });
    if (!runtime.isUp) return;
    signal.addEventListener('abort', stop, { once: true });
    onOpen();
  });
}

/** Returns the name of a call in the protocol, for messages, e.g. `RunPodSandbox` for `runPodSandbox`. */
function methodName(call: CallName): string {
  return call.charAt(0).toUpperCase() + call.slice(1);
}
