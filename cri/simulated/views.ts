/** What the runtime has, as programs look at it: live and read-only, without a call and without copies. */
import type { ContainerConfig, Mount } from '../generated/runtime.ts';

/** A sandbox as it is now. Times are milliseconds since the epoch. */
export interface SimulatedSandbox {
  readonly id: string;
  readonly podUid: string;
  readonly podName: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether its own process runs. */
  readonly ready: boolean;
  /** Absent with the host's network, and once it is stopped. */
  readonly ip?: string;
  readonly createdAt: number;
  /** The cgroup of the pod. */
  readonly cgroupParent: string;
  /** The cgroup of its own process, below the pod's. */
  readonly cgroup: string;
}

/** A container as it is now. Times are milliseconds since the epoch. */
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
  /** The name in full of the image that it was made of. */
  readonly imageName: string;
  /** What it was made with; its resources as they are now. */
  readonly config: Readonly<Pick<ContainerConfig, 'command' | 'args' | 'envs' | 'linux'>>;
  readonly mounts: readonly Readonly<Mount>[];
  readonly createdAt: number;
  /** Absent unless it was started. */
  readonly startedAt: number | undefined;
  /** Of one that has ended. */
  readonly exitCode: number | undefined;
  /** Where its output goes; empty: nowhere. */
  readonly logPath: string;
  /** What it uses while it runs. */
  readonly memoryBytes: number;
  /** The cgroup of the pod. */
  readonly cgroupParent: string;
  /** The cgroup of its processes, below the pod's. */
  readonly cgroup: string;
}

/** What happened to a container or, if there is none, to the sandbox itself; `renamed`: it has had the id `formerId` so far. */
export type RuntimeEffect = About &
  ({ readonly kind: Change } | { readonly kind: 'renamed'; readonly formerId: string });

/** What changes by a call, or by itself. */
export type Change = 'created' | 'started' | 'ended' | 'removed';

interface About {
  readonly sandbox: SimulatedSandbox;
  readonly container?: SimulatedContainer;
}
