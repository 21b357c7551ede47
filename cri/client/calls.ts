/**
 * Defines the CRI as an interface with one function per call. The gRPC client and the simulated runtime both implement
 * it.
 */
import type * as wire from '../generated/runtime.ts';

export interface CallOptions {
  /** Cancels the call in the client. The runtime may still complete it. */
  readonly signal: AbortSignal;
  /**
   * Timeout in milliseconds. Defaults to the configured runtime request timeout. For stops and execs, the timeout in
   * the request is added to it. By default, pulls and execs without a timeout in the request are unlimited.
   */
  readonly timeoutMs?: number;
}

export type CriCall<Request, Response> = (request: Request, options: CallOptions) => Promise<Response>;

/**
 * Notification that a container may have exited. The receiver must query the runtime for the container's actual state.
 */
export interface RuntimeEvent {
  readonly containerId: string;
  /** Creation time of the event in milliseconds since the epoch. Undefined if the runtime does not report it. */
  readonly createdAt?: number | undefined;
}

/**
 * Client of a container runtime. Failed calls reject with a `NodeFailure`, whose reason is `RuntimeUnavailable` if the
 * runtime is down or does not respond.
 */
export interface Cri {
  readonly version: CriCall<wire.VersionRequest, wire.VersionResponse>;
  readonly status: CriCall<wire.StatusRequest, wire.StatusResponse>;
  /**
   * Sends the pod CIDR to the runtime. If the runtime has a template for its CNI configuration, it generates the
   * configuration with this CIDR.
   */
  readonly updateRuntimeConfig: CriCall<wire.UpdateRuntimeConfigRequest, wire.UpdateRuntimeConfigResponse>;
  readonly runtimeConfig: CriCall<wire.RuntimeConfigRequest, wire.RuntimeConfigResponse>;
  readonly runPodSandbox: CriCall<wire.RunPodSandboxRequest, wire.RunPodSandboxResponse>;
  readonly stopPodSandbox: CriCall<wire.StopPodSandboxRequest, wire.StopPodSandboxResponse>;
  readonly removePodSandbox: CriCall<wire.RemovePodSandboxRequest, wire.RemovePodSandboxResponse>;
  readonly podSandboxStatus: CriCall<wire.PodSandboxStatusRequest, wire.PodSandboxStatusResponse>;
  readonly listPodSandbox: CriCall<wire.ListPodSandboxRequest, wire.ListPodSandboxResponse>;
  /** Notifies the runtime of new resource limits for a pod's cgroup. Not every runtime implements this call. */
  readonly updatePodSandboxResources: CriCall<
    wire.UpdatePodSandboxResourcesRequest,
    wire.UpdatePodSandboxResourcesResponse
  >;
  readonly createContainer: CriCall<wire.CreateContainerRequest, wire.CreateContainerResponse>;
  readonly startContainer: CriCall<wire.StartContainerRequest, wire.StartContainerResponse>;
  readonly stopContainer: CriCall<wire.StopContainerRequest, wire.StopContainerResponse>;
  readonly removeContainer: CriCall<wire.RemoveContainerRequest, wire.RemoveContainerResponse>;
  readonly listContainers: CriCall<wire.ListContainersRequest, wire.ListContainersResponse>;
  readonly containerStatus: CriCall<wire.ContainerStatusRequest, wire.ContainerStatusResponse>;
  readonly reopenContainerLog: CriCall<wire.ReopenContainerLogRequest, wire.ReopenContainerLogResponse>;
  readonly updateContainerResources: CriCall<
    wire.UpdateContainerResourcesRequest,
    wire.UpdateContainerResourcesResponse
  >;
  /**
   * Checkpoints a running container, including the memory of its processes, to an archive. Not every runtime implements
   * this call.
   */
  readonly checkpointContainer: CriCall<wire.CheckpointContainerRequest, wire.CheckpointContainerResponse>;
  readonly containerStats: CriCall<wire.ContainerStatsRequest, wire.ContainerStatsResponse>;
  readonly listContainerStats: CriCall<wire.ListContainerStatsRequest, wire.ListContainerStatsResponse>;
  /**
   * Returns the stats of sandboxes. Not every runtime implements this call, and it may fail if one of the requested
   * sandboxes has stopped.
   */
  readonly listPodSandboxStats: CriCall<wire.ListPodSandboxStatsRequest, wire.ListPodSandboxStatsResponse>;
  readonly execSync: CriCall<wire.ExecSyncRequest, wire.ExecSyncResponse>;
  /**
   * Returns a URL at which the runtime streams the input and output of a command in a container. The URL is valid for
   * one minute. `attach` does the same for the container's main process.
   */
  readonly exec: CriCall<wire.ExecRequest, wire.ExecResponse>;
  readonly attach: CriCall<wire.AttachRequest, wire.AttachResponse>;
  /**
   * Returns the URL at which the runtime forwards connections to ports of a sandbox. For WebSocket clients, the request
   * must list the ports.
   */
  readonly portForward: CriCall<wire.PortForwardRequest, wire.PortForwardResponse>;
  readonly listImages: CriCall<wire.ListImagesRequest, wire.ListImagesResponse>;
  readonly imageStatus: CriCall<wire.ImageStatusRequest, wire.ImageStatusResponse>;
  readonly pullImage: CriCall<wire.PullImageRequest, wire.PullImageResponse>;
  readonly removeImage: CriCall<wire.RemoveImageRequest, wire.RemoveImageResponse>;
  readonly imageFsInfo: CriCall<wire.ImageFsInfoRequest, wire.ImageFsInfoResponse>;
  /**
   * Reports container exits until the signal aborts. Rejects if the stream breaks. Calls `onOpen` once the subscription
   * is most likely active (see `createContainerEvents`).
   */
  readonly containerEvents: (
    onEvent: (event: RuntimeEvent) => void,
    options: { signal: AbortSignal; onOpen: () => void },
  ) => Promise<void>;
  readonly close: () => void;
}
