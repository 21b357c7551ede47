/** The CRI as this project calls it: one function a call, the same for a runtime over gRPC and one in this process. */
import type * as wire from './generated/runtime.ts';

export interface CallOptions {
  /** Ends the call from our side; the runtime may still finish it. */
  readonly signal: AbortSignal;
  /**
   * Milliseconds; absent means the runtime request timeout of the configuration, with what a stop or an exec waits for
   * on top. A pull and an exec without a time of its own have no limit then.
   */
  readonly timeoutMs?: number;
}

export type CriCall<Request, Answer> = (request: Request, options: CallOptions) => Promise<Answer>;

/** A word from the runtime that something happened to a container: where to look, never the fact itself. */
export interface RuntimeEvent {
  readonly containerId: string;
  /** In milliseconds since the epoch. Undefined if the runtime does not report it. */
  readonly createdAt?: number | undefined;
}

/** Every call rejects with a `NodeFailure`; a runtime that is away or hangs gives the reason `RuntimeUnavailable`. */
export interface Cri {
  readonly version: CriCall<wire.VersionRequest, wire.VersionResponse>;
  readonly status: CriCall<wire.StatusRequest, wire.StatusResponse>;
  /** Gives the runtime the addresses of the pods, from which it writes its network configuration if it has a template. */
  readonly updateRuntimeConfig: CriCall<wire.UpdateRuntimeConfigRequest, wire.UpdateRuntimeConfigResponse>;
  readonly runtimeConfig: CriCall<wire.RuntimeConfigRequest, wire.RuntimeConfigResponse>;
  readonly runPodSandbox: CriCall<wire.RunPodSandboxRequest, wire.RunPodSandboxResponse>;
  readonly stopPodSandbox: CriCall<wire.StopPodSandboxRequest, wire.StopPodSandboxResponse>;
  readonly removePodSandbox: CriCall<wire.RemovePodSandboxRequest, wire.RemovePodSandboxResponse>;
  readonly podSandboxStatus: CriCall<wire.PodSandboxStatusRequest, wire.PodSandboxStatusResponse>;
  readonly listPodSandbox: CriCall<wire.ListPodSandboxRequest, wire.ListPodSandboxResponse>;
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
  /** Writes a container that runs to an archive, with all that its processes have in memory; a runtime may not have it. */
  readonly checkpointContainer: CriCall<wire.CheckpointContainerRequest, wire.CheckpointContainerResponse>;
  readonly containerStats: CriCall<wire.ContainerStatsRequest, wire.ContainerStatsResponse>;
  readonly listContainerStats: CriCall<wire.ListContainerStatsRequest, wire.ListContainerStatsResponse>;
  /** A runtime may not have it, or fail where one sandbox of those that are asked for has ended. */
  readonly listPodSandboxStats: CriCall<wire.ListPodSandboxStatsRequest, wire.ListPodSandboxStatsResponse>;
  readonly execSync: CriCall<wire.ExecSyncRequest, wire.ExecSyncResponse>;
  /** Gives the URL at which a command in a container is served, for a minute; attach the process that the container runs. */
  readonly exec: CriCall<wire.ExecRequest, wire.ExecResponse>;
  readonly attach: CriCall<wire.AttachRequest, wire.AttachResponse>;
  /** Gives the URL at which the ports of a sandbox are served; which ones WebSocket clients mean is said here. */
  readonly portForward: CriCall<wire.PortForwardRequest, wire.PortForwardResponse>;
  readonly listImages: CriCall<wire.ListImagesRequest, wire.ListImagesResponse>;
  readonly imageStatus: CriCall<wire.ImageStatusRequest, wire.ImageStatusResponse>;
  readonly pullImage: CriCall<wire.PullImageRequest, wire.PullImageResponse>;
  readonly removeImage: CriCall<wire.RemoveImageRequest, wire.RemoveImageResponse>;
  readonly imageFsInfo: CriCall<wire.ImageFsInfoRequest, wire.ImageFsInfoResponse>;
  /**
   * Exits as they happen, until the signal aborts or the stream breaks (then it rejects): reasons to look, not facts.
   * `onOpen` is called once the runtime has accepted the subscription: from then on nothing is missed.
   */
  readonly containerEvents: (
    onEvent: (event: RuntimeEvent) => void,
    options: { signal: AbortSignal; onOpen: () => void },
  ) => Promise<void>;
  readonly close: () => void;
}
