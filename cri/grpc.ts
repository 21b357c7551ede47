import { Client, credentials } from '@grpc/grpc-js';
import { NodeFailure } from '../base/failure.ts';
import type { Cri } from './calls.ts';
import { eventsOver } from './containerEvents.ts';
import { ImageServiceService as image, RuntimeServiceService as runtime } from './generated/runtime.ts';
import { unary } from './unary.ts';

const MESSAGE_BYTES = 16 * 1024 * 1024;

/** Where the runtime is. Endpoints look like `unix:///run/containerd/containerd.sock`. */
export interface CriEndpoints {
  readonly runtimeEndpoint: string;
  /** Absent: the runtime's. */
  readonly imageEndpoint?: string;
  /** Milliseconds that a call may take when it names no limit. */
  readonly requestTimeoutMs: number;
}

/**
 * The CRI of a runtime behind a unix socket. It connects at the first call and again by itself; while the runtime is
 * away every call fails at once. Throws `InvalidEndpoint` when an endpoint is not a unix socket's.
 */
export function connectCri({ runtimeEndpoint, imageEndpoint, requestTimeoutMs }: CriEndpoints): Cri {
  const runtimeClient = connect(runtimeEndpoint);
  const shared = imageEndpoint === undefined || imageEndpoint === runtimeEndpoint;
  const imageClient = shared ? runtimeClient : connect(imageEndpoint);
  return {
    ...runtimeCalls(runtimeClient, requestTimeoutMs),
    ...imageCalls(imageClient, requestTimeoutMs),
    close: () => {
      runtimeClient.close();
      imageClient.close();
    },
  };
}

function runtimeCalls(client: Client, requestTimeoutMs: number): Omit<Cri, keyof ImageCalls | 'close'> {
  const usual = () => requestTimeoutMs;
  // What the runtime is asked to wait for comes on top of the time that it has for answering.
  const onTop = ({ timeout }: { timeout: bigint }) => requestTimeoutMs + Number(timeout) * 1000;
  const version = unary(client, runtime.version, usual);
  return {
    version,
    status: unary(client, runtime.status, usual),
    updateRuntimeConfig: unary(client, runtime.updateRuntimeConfig, usual),
    runtimeConfig: unary(client, runtime.runtimeConfig, usual),
    runPodSandbox: unary(client, runtime.runPodSandbox, usual),
    stopPodSandbox: unary(client, runtime.stopPodSandbox, usual),
    removePodSandbox: unary(client, runtime.removePodSandbox, usual),
    podSandboxStatus: unary(client, runtime.podSandboxStatus, usual),
    listPodSandbox: unary(client, runtime.listPodSandbox, usual),
    createContainer: unary(client, runtime.createContainer, usual),
    startContainer: unary(client, runtime.startContainer, usual),
    stopContainer: unary(client, runtime.stopContainer, onTop),
    removeContainer: unary(client, runtime.removeContainer, usual),
    listContainers: unary(client, runtime.listContainers, usual),
    reopenContainerLog: unary(client, runtime.reopenContainerLog, usual),
    containerStatus: unary(client, runtime.containerStatus, usual),
    updateContainerResources: unary(client, runtime.updateContainerResources, usual),
    checkpointContainer: unary(client, runtime.checkpointContainer, usual),
    containerStats: unary(client, runtime.containerStats, usual),
    listContainerStats: unary(client, runtime.listContainerStats, usual),
    listPodSandboxStats: unary(client, runtime.listPodSandboxStats, usual),
    // An exec without a time of its own runs for as long as its command does.
    execSync: unary(client, runtime.execSync, (exec) => (exec.timeout > 0n ? onTop(exec) : undefined)),
    ...streamCalls(client, usual),
    containerEvents: eventsOver(client, (signal) => version({ version: 'v1' }, { signal })),
  };
}

const streamCalls = (client: Client, usual: () => number): Pick<Cri, 'exec' | 'attach' | 'portForward'> => ({
  exec: unary(client, runtime.exec, usual),
  attach: unary(client, runtime.attach, usual),
  portForward: unary(client, runtime.portForward, usual),
});

type ImageCalls = Pick<Cri, 'listImages' | 'imageStatus' | 'pullImage' | 'removeImage' | 'imageFsInfo'>;

function imageCalls(client: Client, requestTimeoutMs: number): ImageCalls {
  const usual = () => requestTimeoutMs;
  return {
    listImages: unary(client, image.listImages, usual),
    imageStatus: unary(client, image.imageStatus, usual),
    // A pull takes as long as the image is large: only its caller can tell when it is too long.
    pullImage: unary(client, image.pullImage, () => undefined),
    removeImage: unary(client, image.removeImage, usual),
    imageFsInfo: unary(client, image.imageFsInfo, usual),
  };
}

function connect(endpoint: string): Client {
  if (!/^unix:\/\/\/./.test(endpoint)) {
    const message = `"${endpoint}" is not a runtime endpoint: expected unix:///path/to/runtime.sock`;
    throw new NodeFailure('InvalidEndpoint', message);
  }
  return new Client(endpoint, credentials.createInsecure(), {
    'grpc.max_send_message_length': MESSAGE_BYTES,
    'grpc.max_receive_message_length': MESSAGE_BYTES,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 3000,
    // A repeated call is a decision that the machines make.
    'grpc.enable_retries': 0,
    // Statistics of each call that nobody asks for.
    'grpc.enable_channelz': 0,
    // Connections are not shared with other users of the same socket in this process, so that close() closes.
    'grpc.use_local_subchannel_pool': 1,
  });
}
