import { Client, credentials } from '@grpc/grpc-js';
import { NodeFailure } from '../../base/failure.ts';
import { createSystemTurnLimiter } from '../../base/time/clock.ts';
import { createContainerEvents } from '../containerEvents.ts';
import { ImageServiceService as image, RuntimeServiceService as runtime } from '../generated/runtime.ts';
import type { Cri } from './calls.ts';
import { createUnaryCall, type PacedClient } from './unaryCall.ts';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/**
 * Maximum number of calls that start in one turn of the event loop. Further calls start in later turns, because each
 * start takes about 0.2 ms and a long burst would block the event loop.
 */
const MAX_CALLS_PER_TURN = 32;

/** Endpoints of the runtime, such as `unix:///run/containerd/containerd.sock`. */
export interface CriEndpoints {
  readonly runtimeEndpoint: string;
  /** Endpoint of the image service. Defaults to `runtimeEndpoint`. */
  readonly imageEndpoint?: string;
  /** Default timeout of a call in milliseconds. */
  readonly requestTimeoutMs: number;
}

/**
 * Creates a client for a runtime on a unix socket. The connection is established by the first call and re-established
 * automatically. While the runtime is down, every call fails immediately. Throws `InvalidEndpoint` if an endpoint is
 * not a unix socket.
 */
export function connectCri({ runtimeEndpoint, imageEndpoint, requestTimeoutMs }: CriEndpoints): Cri {
  const runtimeClient = connect(runtimeEndpoint);
  const usesRuntimeClient = imageEndpoint === undefined || imageEndpoint === runtimeEndpoint;
  const imageClient = usesRuntimeClient ? runtimeClient : connect(imageEndpoint);
  return {
    ...runtimeCalls(runtimeClient, requestTimeoutMs),
    ...imageCalls(imageClient, requestTimeoutMs),
    close: () => {
      runtimeClient.client.close();
      imageClient.client.close();
    },
  };
}

function runtimeCalls(client: PacedClient, requestTimeoutMs: number): Omit<Cri, keyof ImageCalls | 'close'> {
  const defaultTimeoutMs = () => requestTimeoutMs;
  // Add the usual call timeout to the command's own timeout.
  const execTimeoutMs = ({ timeout }: { timeout: bigint }) => requestTimeoutMs + Number(timeout) * 1000;
  const version = createUnaryCall(client, runtime.version, defaultTimeoutMs);
  return {
    version,
    status: createUnaryCall(client, runtime.status, defaultTimeoutMs),
    updateRuntimeConfig: createUnaryCall(client, runtime.updateRuntimeConfig, defaultTimeoutMs),
    runtimeConfig: createUnaryCall(client, runtime.runtimeConfig, defaultTimeoutMs),
    runPodSandbox: createUnaryCall(client, runtime.runPodSandbox, defaultTimeoutMs),
    stopPodSandbox: createUnaryCall(client, runtime.stopPodSandbox, defaultTimeoutMs),
    removePodSandbox: createUnaryCall(client, runtime.removePodSandbox, defaultTimeoutMs),
    podSandboxStatus: createUnaryCall(client, runtime.podSandboxStatus, defaultTimeoutMs),
    listPodSandbox: createUnaryCall(client, runtime.listPodSandbox, defaultTimeoutMs),
    updatePodSandboxResources: createUnaryCall(client, runtime.updatePodSandboxResources, defaultTimeoutMs),
    createContainer: createUnaryCall(client, runtime.createContainer, defaultTimeoutMs),
    startContainer: createUnaryCall(client, runtime.startContainer, defaultTimeoutMs),
    stopContainer: createUnaryCall(client, runtime.stopContainer, execTimeoutMs),
    removeContainer: createUnaryCall(client, runtime.removeContainer, defaultTimeoutMs),
    listContainers: createUnaryCall(client, runtime.listContainers, defaultTimeoutMs),
    reopenContainerLog: createUnaryCall(client, runtime.reopenContainerLog, defaultTimeoutMs),
    containerStatus: createUnaryCall(client, runtime.containerStatus, defaultTimeoutMs),
    updateContainerResources: createUnaryCall(client, runtime.updateContainerResources, defaultTimeoutMs),
    checkpointContainer: createUnaryCall(client, runtime.checkpointContainer, defaultTimeoutMs),
    containerStats: createUnaryCall(client, runtime.containerStats, defaultTimeoutMs),
    listContainerStats: createUnaryCall(client, runtime.listContainerStats, defaultTimeoutMs),
    listPodSandboxStats: createUnaryCall(client, runtime.listPodSandboxStats, defaultTimeoutMs),
    // An exec without a timeout is unlimited, because its command may run for any length of time.
    execSync: createUnaryCall(client, runtime.execSync, (exec) =>
      exec.timeout > 0n ? execTimeoutMs(exec) : undefined,
    ),
    ...streamCalls(client, defaultTimeoutMs),
    containerEvents: createContainerEvents(client.client, (signal) => version({ version: 'v1' }, { signal })),
  };
}

const streamCalls = (
  client: PacedClient,
  defaultTimeoutMs: () => number,
): Pick<Cri, 'exec' | 'attach' | 'portForward'> => ({
  exec: createUnaryCall(client, runtime.exec, defaultTimeoutMs),
  attach: createUnaryCall(client, runtime.attach, defaultTimeoutMs),
  portForward: createUnaryCall(client, runtime.portForward, defaultTimeoutMs),
});

type ImageCalls = Pick<Cri, 'listImages' | 'imageStatus' | 'pullImage' | 'removeImage' | 'imageFsInfo'>;

function imageCalls(client: PacedClient, requestTimeoutMs: number): ImageCalls {
  const defaultTimeoutMs = () => requestTimeoutMs;
  return {
    listImages: createUnaryCall(client, image.listImages, defaultTimeoutMs),
    imageStatus: createUnaryCall(client, image.imageStatus, defaultTimeoutMs),
    // The duration of a pull depends on the image, so only the caller can set a limit.
    pullImage: createUnaryCall(client, image.pullImage, () => undefined),
    removeImage: createUnaryCall(client, image.removeImage, defaultTimeoutMs),
    imageFsInfo: createUnaryCall(client, image.imageFsInfo, defaultTimeoutMs),
  };
}

function connect(endpoint: string): PacedClient {
  if (!/^unix:\/\/\/./.test(endpoint)) {
    const message = `"${endpoint}" is not a runtime endpoint: expected unix:///path/to/runtime.sock`;
    throw new NodeFailure('InvalidEndpoint', message);
  }
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 3000,
    // Disable the library's own retries, because the state machines decide whether to retry.
    'grpc.enable_retries': 0,
    // Disable channelz, because nothing reads its per-call statistics.
    'grpc.enable_channelz': 0,
    // Use a separate connection for each client, so that close() really closes the connection.
    'grpc.use_local_subchannel_pool': 1,
  });
  return { client, turnScheduler: createSystemTurnLimiter(MAX_CALLS_PER_TURN) };
}
