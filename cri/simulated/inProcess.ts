import type { CallOptions, Cri, CriCall } from '../calls.ts';
import { cancelledFailure, hangingFailure, runtimeFailure } from '../failure.ts';
import { CallError } from './callError.ts';
import type { AnswerOf, CallName, RequestOf } from './callNames.ts';
import { isExit } from './events.ts';
import type { SimulatedRuntime } from './runtime.ts';
import { underBoth } from './underBoth.ts';

/** How long a call may take that names no limit (milliseconds): the default of the kubelet's runtimeRequestTimeout. */
const REQUEST_TIMEOUT_MS = 120_000;

/** What of a runtime is called: the runtime itself, or what stands between it and one of its clients. */
export type CalledRuntime = Pick<SimulatedRuntime, 'call' | 'subscribe' | 'isUp' | 'clock'>;

/**
 * A simulated runtime as the rest of the agent calls it, without a socket: the same answers and failures as over gRPC,
 * with all limits on the runtime's clock.
 */
export function inProcessCri(
  runtime: CalledRuntime,
  { requestTimeoutMs = REQUEST_TIMEOUT_MS }: { requestTimeoutMs?: number } = {},
): Cri {
  const usual = () => requestTimeoutMs;
  // What the runtime is asked to wait for comes on top of the time that it has for answering.
  const onTop = ({ timeout }: { timeout: bigint }) => requestTimeoutMs + Number(timeout) * 1000;
  return {
    version: limited(runtime, 'version', usual),
    status: limited(runtime, 'status', usual),
    updateRuntimeConfig: limited(runtime, 'updateRuntimeConfig', usual),
    runtimeConfig: limited(runtime, 'runtimeConfig', usual),
    runPodSandbox: limited(runtime, 'runPodSandbox', usual),
    stopPodSandbox: limited(runtime, 'stopPodSandbox', usual),
    removePodSandbox: limited(runtime, 'removePodSandbox', usual),
    podSandboxStatus: limited(runtime, 'podSandboxStatus', usual),
    listPodSandbox: limited(runtime, 'listPodSandbox', usual),
    createContainer: limited(runtime, 'createContainer', usual),
    startContainer: limited(runtime, 'startContainer', usual),
    stopContainer: limited(runtime, 'stopContainer', onTop),
    removeContainer: limited(runtime, 'removeContainer', usual),
    listContainers: limited(runtime, 'listContainers', usual),
    containerStatus: limited(runtime, 'containerStatus', usual),
    reopenContainerLog: limited(runtime, 'reopenContainerLog', usual),
    updateContainerResources: limited(runtime, 'updateContainerResources', usual),
    checkpointContainer: limited(runtime, 'checkpointContainer', usual),
    ...statsCalls(runtime, usual),
    execSync: limited(runtime, 'execSync', onTop),
    ...streamCalls(runtime, usual),
    listImages: limited(runtime, 'listImages', usual),
    imageStatus: limited(runtime, 'imageStatus', usual),
    pullImage: limited(runtime, 'pullImage', () => undefined),
    removeImage: limited(runtime, 'removeImage', usual),
    containerEvents: (onEvent, options) => containerEvents(runtime, onEvent, options),
    close: () => {},
  };
}

const statsCalls = (
  runtime: CalledRuntime,
  usual: () => number,
): Pick<Cri, 'containerStats' | 'listContainerStats' | 'listPodSandboxStats' | 'imageFsInfo'> => ({
  containerStats: limited(runtime, 'containerStats', usual),
  listContainerStats: limited(runtime, 'listContainerStats', usual),
  listPodSandboxStats: limited(runtime, 'listPodSandboxStats', usual),
  imageFsInfo: limited(runtime, 'imageFsInfo', usual),
});

const streamCalls = (runtime: CalledRuntime, usual: () => number): Pick<Cri, 'exec' | 'attach' | 'portForward'> => ({
  exec: limited(runtime, 'exec', usual),
  attach: limited(runtime, 'attach', usual),
  portForward: limited(runtime, 'portForward', usual),
});

function limited<K extends CallName>(
  runtime: CalledRuntime,
  call: K,
  limitOf: (request: RequestOf<K>) => number | undefined,
): CriCall<RequestOf<K>, AnswerOf<K>> {
  const name = methodName(call);
  return async (request, { signal, timeoutMs }: CallOptions): Promise<AnswerOf<K>> => {
    if (signal.aborted) throw cancelledFailure(name, signal.reason);
    const limitMs = timeoutMs ?? limitOf(request);
    const limit = new AbortController();
    const timer = limitMs === undefined ? undefined : runtime.clock.setTimeout(() => limit.abort(), limitMs);
    try {
      return await underBoth(signal, limit.signal, (either) => runtime.call(call, request, either));
    } catch (error) {
      if (signal.aborted) throw cancelledFailure(name, signal.reason);
      if (limit.signal.aborted) throw hangingFailure(name, limitMs ?? 0, error);
      throw error instanceof CallError ? runtimeFailure(name, error) : error;
    } finally {
      if (timer !== undefined) runtime.clock.clearTimeout(timer);
    }
  };
}

function containerEvents(
  runtime: CalledRuntime,
  onEvent: Parameters<Cri['containerEvents']>[0],
  { signal, onOpen }: Parameters<Cri['containerEvents']>[1],
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = () => {
      unsubscribe();
      resolve();
    };
    const unsubscribe = runtime.subscribe({
      onEvent: (event) => {
        // As in the CRI, 0 is no time.
        if (isExit(event)) onEvent({ containerId: event.id, createdAt: event.at === 0 ? undefined : event.at });
      },
      onBreak: (error) => {
        signal.removeEventListener('abort', end);
        reject(runtimeFailure('GetContainerEvents', error));
      },
    });
    if (!runtime.isUp) return;
    signal.addEventListener('abort', end, { once: true });
    onOpen();
  });
}

/** The protocol's name of a call, for messages: `runPodSandbox` is `RunPodSandbox`. */
function methodName(call: CallName): string {
  return call.charAt(0).toUpperCase() + call.slice(1);
}
