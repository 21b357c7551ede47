import type { CallOptions, Cri, CriCall } from '../client/calls.ts';
import { cancelledFailure, runtimeFailure, timeoutFailure } from '../client/failure.ts';
import { CallError } from './faults/callError.ts';
import type { CallName, RequestOf, ResponseOf } from './faults/callNames.ts';
import { withEitherSignal } from './faults/withEitherSignal.ts';
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
  const defaultTimeoutMs = () => requestTimeoutMs;
  // Add the usual call timeout to the command's own timeout.
  const execTimeoutMs = ({ timeout }: { timeout: bigint }) => requestTimeoutMs + Number(timeout) * 1000;
  return {
    version: createTimedCall(runtime, 'version', defaultTimeoutMs),
    status: createTimedCall(runtime, 'status', defaultTimeoutMs),
    updateRuntimeConfig: createTimedCall(runtime, 'updateRuntimeConfig', defaultTimeoutMs),
    runtimeConfig: createTimedCall(runtime, 'runtimeConfig', defaultTimeoutMs),
    runPodSandbox: createTimedCall(runtime, 'runPodSandbox', defaultTimeoutMs),
    stopPodSandbox: createTimedCall(runtime, 'stopPodSandbox', defaultTimeoutMs),
    removePodSandbox: createTimedCall(runtime, 'removePodSandbox', defaultTimeoutMs),
    podSandboxStatus: createTimedCall(runtime, 'podSandboxStatus', defaultTimeoutMs),
    listPodSandbox: createTimedCall(runtime, 'listPodSandbox', defaultTimeoutMs),
    updatePodSandboxResources: createTimedCall(runtime, 'updatePodSandboxResources', defaultTimeoutMs),
    createContainer: createTimedCall(runtime, 'createContainer', defaultTimeoutMs),
    startContainer: createTimedCall(runtime, 'startContainer', defaultTimeoutMs),
    stopContainer: createTimedCall(runtime, 'stopContainer', execTimeoutMs),
    removeContainer: createTimedCall(runtime, 'removeContainer', defaultTimeoutMs),
    listContainers: createTimedCall(runtime, 'listContainers', defaultTimeoutMs),
    containerStatus: createTimedCall(runtime, 'containerStatus', defaultTimeoutMs),
    reopenContainerLog: createTimedCall(runtime, 'reopenContainerLog', defaultTimeoutMs),
    updateContainerResources: createTimedCall(runtime, 'updateContainerResources', defaultTimeoutMs),
    checkpointContainer: createTimedCall(runtime, 'checkpointContainer', defaultTimeoutMs),
    ...createStatsCalls(runtime, defaultTimeoutMs),
    execSync: createTimedCall(runtime, 'execSync', execTimeoutMs),
    ...createStreamCalls(runtime, defaultTimeoutMs),
    listImages: createTimedCall(runtime, 'listImages', defaultTimeoutMs),
    imageStatus: createTimedCall(runtime, 'imageStatus', defaultTimeoutMs),
    pullImage: createTimedCall(runtime, 'pullImage', () => undefined),
    removeImage: createTimedCall(runtime, 'removeImage', defaultTimeoutMs),
    containerEvents: (onEvent, options) => containerEvents(runtime, onEvent, options),
    close: () => {},
  };
}

const createStatsCalls = (
  runtime: CallableRuntime,
  defaultTimeoutMs: () => number,
): Pick<Cri, 'containerStats' | 'listContainerStats' | 'listPodSandboxStats' | 'imageFsInfo'> => ({
  containerStats: createTimedCall(runtime, 'containerStats', defaultTimeoutMs),
  listContainerStats: createTimedCall(runtime, 'listContainerStats', defaultTimeoutMs),
  listPodSandboxStats: createTimedCall(runtime, 'listPodSandboxStats', defaultTimeoutMs),
  imageFsInfo: createTimedCall(runtime, 'imageFsInfo', defaultTimeoutMs),
});

const createStreamCalls = (
  runtime: CallableRuntime,
  defaultTimeoutMs: () => number,
): Pick<Cri, 'exec' | 'attach' | 'portForward'> => ({
  exec: createTimedCall(runtime, 'exec', defaultTimeoutMs),
  attach: createTimedCall(runtime, 'attach', defaultTimeoutMs),
  portForward: createTimedCall(runtime, 'portForward', defaultTimeoutMs),
});

function createTimedCall<K extends CallName>(
  runtime: CallableRuntime,
  call: K,
  defaultTimeoutMs: (request: RequestOf<K>) => number | undefined,
): CriCall<RequestOf<K>, ResponseOf<K>> {
  const name = methodName(call);
  return async (request, { signal, timeoutMs }: CallOptions): Promise<ResponseOf<K>> => {
    if (signal.aborted) throw cancelledFailure(name, signal.reason);
    const effectiveTimeoutMs = timeoutMs ?? defaultTimeoutMs(request);
    const limit = new AbortController();
    const timer =
      effectiveTimeoutMs === undefined ? undefined : runtime.clock.setTimeout(() => limit.abort(), effectiveTimeoutMs);
    try {
      return await withEitherSignal(signal, limit.signal, (either) => runtime.call(call, request, either));
    } catch (error) {
      if (signal.aborted) throw cancelledFailure(name, signal.reason);
      if (limit.signal.aborted) throw timeoutFailure(name, effectiveTimeoutMs ?? 0, error);
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
    const stopListening = () => {
      unsubscribe();
      resolve();
    };
    const unsubscribe = runtime.subscribe({
      onEvent: (event) => {
        // The CRI sends 0 for an unknown time.
        if (isExit(event)) onEvent({ containerId: event.id, createdAt: event.at === 0 ? undefined : event.at });
      },
      onBreak: (error) => {
        signal.removeEventListener('abort', stopListening);
        reject(runtimeFailure('GetContainerEvents', error));
      },
    });
    if (!runtime.isUp) return;
    signal.addEventListener('abort', stopListening, { once: true });
    onOpen();
  });
}

/** Returns the name of a call in the protocol, for messages, e.g. `RunPodSandbox` for `runPodSandbox`. */
function methodName(call: CallName): string {
  return call.charAt(0).toUpperCase() + call.slice(1);
}
