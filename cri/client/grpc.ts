import { Client, credentials } from '@grpc/grpc-js';
import { createSystemTurns } from '../../base/clock.ts';
import { NodeFailure } from '../../base/failure.ts';
import { containerEventsOver } from '../containerEvents.ts';
import { ImageServiceService as image, RuntimeServiceService as runtime } from '../generated/runtime.ts';
import type { Cri } from './calls.ts';
import { type PacedClient, unary } from './unary.ts';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/**
 * Maximum number of calls that start in one turn of the event loop. Each takes about 0.2 ms. Further calls start in
 * later turns.
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
  const sharesClient = imageEndpoint === undefined || imageEndpoint === runtimeEndpoint;
  const imageClient = sharesClient ? runtimeClient : connect(imageEndpoint);
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
  const defaultLimit = () => requestTimeoutMs;
  // The timeout in the request is added to the time limit for the runtime's response.
  const extendedLimit = ({ timeout }: { timeout: bigint }) => requestTimeoutMs + Number(timeout) * 1000;
  const version = unary(client, runtime.version, defaultLimit);
  return {
    version,
    status: unary(client, runtime.status, defaultLimit),
    updateRuntimeConfig: unary(client, runtime.updateRuntimeConfig, defaultLimit),
    runtimeConfig: unary(client, runtime.runtimeConfig, defaultLimit),
    runPodSandbox: unary(client, runtime.runPodSandbox, defaultLimit),
    stopPodSandbox: unary(client, runtime.stopPodSandbox, defaultLimit),
    removePodSandbox: unary(client, runtime.removePodSandbox, defaultLimit),
    podSandboxStatus: unary(client, runtime.podSandboxStatus, defaultLimit),
    listPodSandbox: unary(client, runtime.listPodSandbox, defaultLimit),
    createContainer: unary(client, runtime.createContainer, defaultLimit),
    startContainer: unary(client, runtime.startContainer, defaultLimit),
    stopContainer: unary(client, runtime.stopContainer, extendedLimit),
    removeContainer: unary(client, runtime.removeContainer, defaultLimit),
    listContainers: unary(client, runtime.listContainers, defaultLimit),
    reopenContainerLog: unary(client, runtime.reopenContainerLog, defaultLimit),
    containerStatus: unary(client, runtime.containerStatus, defaultLimit),
    updateContainerResources: unary(client, runtime.updateContainerResources, defaultLimit),
    checkpointContainer: unary(client, runtime.checkpointContainer, defaultLimit),
    containerStats: unary(client, runtime.containerStats, defaultLimit),
    listContainerStats: unary(client, runtime.listContainerStats, defaultLimit),
    listPodSandboxStats: unary(client, runtime.listPodSandboxStats, defaultLimit),
    // An exec without a timeout may take as long as its command runs.
    execSync: unary(client, runtime.execSync, (exec) => (exec.timeout > 0n ? extendedLimit(exec) : undefined)),
    ...streamCalls(client, defaultLimit),
    containerEvents: containerEventsOver(client.client, (signal) => version({ version: 'v1' }, { signal })),
  };
}

const streamCalls = (
  client: PacedClient,
  defaultLimit: () => number,
): Pick<Cri, 'exec' | 'attach' | 'portForward'> => ({
  exec: unary(client, runtime.exec, defaultLimit),
  attach: unary(client, runtime.attach, defaultLimit),
  portForward: unary(client, runtime.portForward, defaultLimit),
});

type ImageCalls = Pick<Cri, 'listImages' | 'imageStatus' | 'pullImage' | 'removeImage' | 'imageFsInfo'>;

function imageCalls(client: PacedClient, requestTimeoutMs: number): ImageCalls {
  const defaultLimit = () => requestTimeoutMs;
  return {
    listImages: unary(client, image.listImages, defaultLimit),
    imageStatus: unary(client, image.imageStatus, defaultLimit),
    // The duration of a pull depends on the image, so only the caller can set a limit.
    pullImage: unary(client, image.pullImage, () => undefined),
    removeImage: unary(client, image.removeImage, defaultLimit),
    imageFsInfo: unary(client, image.imageFsInfo, defaultLimit),
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
    // Disable retries of the library, because the state machines decide about retries.
    'grpc.enable_retries': 0,
    // Disable channelz, because nothing reads its statistics of each call.
    'grpc.enable_channelz': 0,
    // Use a separate connection for each client, so that close() really closes the connection.
    'grpc.use_local_subchannel_pool': 1,
  });
  return { client, turns: createSystemTurns(MAX_CALLS_PER_TURN) };
}
