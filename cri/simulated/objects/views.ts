/** Defines read-only views of the runtime's objects. The views are live and need neither CRI calls nor copies. */
import type { ContainerConfig, Mount } from '../../generated/runtime.ts';

/** Current state of a sandbox. Timestamps are milliseconds since the epoch. */
export interface SimulatedSandbox {
  readonly id: string;
  readonly podUid: string;
  readonly podName: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the sandbox's process is running. */
  readonly ready: boolean;
  /** IP address of the sandbox. Undefined on the host network and once the sandbox has stopped. */
  readonly ip?: string;
  readonly createdAt: number;
  readonly cgroupParent: string;
  /** Cgroup of the sandbox's process, below the pod's cgroup. */
  readonly cgroup: string;
}

/** Current state of a container. Timestamps are milliseconds since the epoch. */
export interface SimulatedContainer {
  readonly id: string;
  readonly sandbox: SimulatedSandbox;
  readonly podUid: string;
  readonly podName: string;
  readonly namespace: string;
  readonly containerName: string;
  readonly attempt: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'created' | 'running' | 'exited';
  /** Whether the runtime reports the state of this running container as unknown. */
  readonly hasUnknownState: boolean;
  /** Full name of the container's image. */
  readonly imageName: string;
  readonly imageId: string;
  /** Configuration of the container, with its current resources. */
  readonly config: Readonly<Pick<ContainerConfig, 'command' | 'args' | 'envs' | 'linux' | 'CDIDevices'>>;
  readonly mounts: readonly Readonly<Mount>[];
  readonly createdAt: number;
  /** Start time. Undefined if the container has not been started. */
  readonly startedAt: number | undefined;
  /** Exit code. Undefined if the container has not exited. */
  readonly exitCode: number | undefined;
  /** Path of the log. Empty if the output is discarded. */
  readonly logPath: string;
  /** Memory usage in bytes while the container is running. */
  readonly memoryBytes: number;
  readonly cgroupParent: string;
  /** Cgroup of the container's processes, below the pod's cgroup. */
  readonly cgroup: string;
}

/**
 * A change to a container or, if `container` is undefined, to the sandbox. `formerId` is the previous ID of a `renamed`
 * object.
 */
export type RuntimeEffect = ChangeSubject &
  ({ readonly kind: ChangeKind } | { readonly kind: 'renamed'; readonly formerId: string });

/** Kind of change to an object, regardless of whether a call caused it. */
export type ChangeKind = 'created' | 'started' | 'ended' | 'removed';

interface ChangeSubject {
  readonly sandbox: SimulatedSandbox;
  readonly container?: SimulatedContainer;
}
