import { lookUp } from '../../../base/values/lookUp.ts';
import type {
  Container,
  ContainerConfig,
  ContainerMetadata,
  Mount,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxMetadata,
} from '../../generated/runtime.ts';
import { ContainerState, NamespaceMode, PodSandboxState } from '../../generated/runtime.ts';
import { millisToNanos } from '../clock.ts';
import type { Process } from './process.ts';
import type { SimulatedContainer, SimulatedSandbox } from './views.ts';

/** Record of a sandbox from its creation until its removal. Timestamps are in milliseconds since the epoch. */
export class SandboxRecord implements SimulatedSandbox {
  /** ID of the sandbox. It changes if the runtime restarts with different IDs. */
  id: string;
  readonly reservedName: string;
  readonly metadata: PodSandboxMetadata;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: number;
  /** PID of the sandbox's process. Valid while the process is running. */
  readonly pid: number;
  ready = true;
  ip?: string;
  additionalIps: readonly string[] = [];

  constructor(
    fields: Pick<SandboxRecord, 'id' | 'reservedName' | 'metadata' | 'config' | 'runtimeHandler' | 'createdAt' | 'pid'>,
  ) {
    this.id = fields.id;
    this.reservedName = fields.reservedName;
    this.metadata = fields.metadata;
    this.config = fields.config;
    this.runtimeHandler = fields.runtimeHandler;
    this.createdAt = fields.createdAt;
    this.pid = fields.pid;
  }

  get podUid(): string {
    return this.metadata.uid;
  }

  get podName(): string {
    return this.metadata.name;
  }

  get namespace(): string {
    return this.metadata.namespace;
  }

  get attempt(): number {
    return this.metadata.attempt;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.config.labels;
  }

  get onHostNetwork(): boolean {
    return this.config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
  }

  get cgroupParent(): string {
    return this.config.linux?.cgroupParent ?? '';
  }

  get cgroup(): string {
    return `${this.cgroupParent}/${this.id}`;
  }
}

/** Lifecycle state of a container. `starting` is set while a start is in progress. */
type Lifecycle =
  | { readonly state: 'created'; readonly starting: boolean }
  | {
      readonly state: 'running';
      readonly startedAt: number;
      readonly pid: number;
      readonly process: Process;
      /** Resolves when the runtime has reported the exit. */
      readonly exitPromise: Promise<void>;
    }
  | {
      readonly state: 'exited';
      readonly startedAt?: number;
      readonly finishedAt: number;
      readonly exitCode: number;
      readonly reason: string;
      readonly message?: string;
    };

/** Record of a container from its creation until its removal. */
export class ContainerRecord implements SimulatedContainer {
  /** ID of the container. It changes if the runtime restarts with different IDs. */
  id: string;
  readonly reservedName: string;
  readonly sandbox: SandboxRecord;
  readonly metadata: ContainerMetadata;
  readonly config: ContainerConfig;
  /** ID and digest of the image, and the name under which the runtime reports it. */
  readonly image: { readonly id: string; readonly name: string; readonly digest: string };
  readonly createdAt: number;
  lifecycle: Lifecycle = { state: 'created', starting: false };
  /** Memory in bytes that the container uses while it is running. */
  memoryBytes = 1024 * 1024;
  isRemoving = false;
  /**
   * Whether the runtime failed to recover the container at the runtime's start, e.g. because it could not open the log.
   */
  hasUnknownState = false;
  /**
   * Whether the runtime also failed to read the container's stored status, which is then lost (`unknownContainerStatus`
   * in containerd).
   */
  hasUnreadStatus = false;
  /**
   * Start time that the runtime assumes for the container, in milliseconds since the epoch. Defined if the stored
   * status was lost and a later start of the runtime found the container running (`loadContainer` in containerd).
   */
  recoveredAt: number | undefined;
  /** Whether the kernel has OOM-killed any process in the container. */
  wasOomKilled = false;

  constructor(
    fields: Pick<ContainerRecord, 'id' | 'reservedName' | 'sandbox' | 'metadata' | 'config' | 'image' | 'createdAt'>,
  ) {
    this.id = fields.id;
    this.reservedName = fields.reservedName;
    this.sandbox = fields.sandbox;
    this.metadata = fields.metadata;
    this.config = fields.config;
    this.image = fields.image;
    this.createdAt = fields.createdAt;
  }

  /**
   * Recovers the container when the runtime starts at the time `now`, or marks its state as unknown if the recovery
   * fails.
   */
  recover(
    now: number,
    { unknown, unread }: { readonly [kind in 'unknown' | 'unread']?: (container: ContainerRecord) => boolean },
  ): void {
    this.hasUnknownState = this.state === 'running' && unknown?.(this) === true;
    if (this.hasUnknownState && unread?.(this)) {
      this.hasUnreadStatus = true;
      this.recoveredAt = undefined;
    }
    if (this.state === 'running' && !this.hasUnknownState && this.hasUnreadStatus) this.recoveredAt ??= now;
  }

  get podUid(): string {
    return this.sandbox.podUid;
  }

  get podName(): string {
    return this.sandbox.podName;
  }

  get namespace(): string {
    return this.sandbox.namespace;
  }

  get containerName(): string {
    return this.metadata.name;
  }

  get attempt(): number {
    return this.metadata.attempt;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.config.labels;
  }

  get state(): Lifecycle['state'] {
    return this.lifecycle.state;
  }

  get imageId(): string {
    return this.image.id;
  }

  get imageName(): string {
    return this.image.name;
  }

  get mounts(): readonly Mount[] {
    return this.config.mounts;
  }

  get logPath(): string {
    const { logDirectory } = this.sandbox.config;
    return logDirectory && this.config.logPath ? `${logDirectory}/${this.config.logPath}` : '';
  }

  get startedAt(): number | undefined {
    return this.lifecycle.state === 'created' ? undefined : this.lifecycle.startedAt;
  }

  get exitCode(): number | undefined {
    return this.lifecycle.state === 'exited' ? this.lifecycle.exitCode : undefined;
  }

  get cgroupParent(): string {
    return this.sandbox.cgroupParent;
  }

  get cgroup(): string {
    return `${this.cgroupParent}/${this.id}`;
  }
}

/** All objects of the runtime. */
export interface RuntimeRecords {
  readonly sandboxes: Map<string, SandboxRecord>;
  readonly containers: Map<string, ContainerRecord>;
}

const CRI_CONTAINER_STATES = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
} as const;

/** Returns the state of a container in the CRI. */
export function toCriContainerState({ lifecycle, hasUnknownState }: ContainerRecord): ContainerState {
  return hasUnknownState ? ContainerState.CONTAINER_UNKNOWN : CRI_CONTAINER_STATES[lifecycle.state];
}

/** Returns the name of a container's state as containerd's messages spell it. */
export function containerStateName({ lifecycle, hasUnknownState }: ContainerRecord): string {
  return hasUnknownState ? 'CONTAINER_UNKNOWN' : `CONTAINER_${lifecycle.state.toUpperCase()}`;
}

/** Whether a container is running and the runtime reports it as running. */
export function isRunning(record: ContainerRecord): boolean {
  return toCriContainerState(record) === ContainerState.CONTAINER_RUNNING;
}

function toCriSandboxState({ ready }: SandboxRecord): PodSandboxState {
  return ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

/** Converts a sandbox to an entry of a list. */
export function toListedSandbox(record: SandboxRecord): PodSandbox {
  return {
    id: record.id,
    metadata: { ...record.metadata },
    state: toCriSandboxState(record),
    createdAt: millisToNanos(record.createdAt),
    labels: { ...record.config.labels },
    annotations: { ...record.config.annotations },
    runtimeHandler: record.runtimeHandler,
  };
}

/** Converts a container to an entry of a list. */
export function toListedContainer(record: ContainerRecord): Container {
  const { image, metadata, labels, annotations } = record.config;
  return {
    id: record.id,
    podSandboxId: record.sandbox.id,
    metadata: metadata && { ...metadata },
    image: image && { ...image },
    imageRef: record.image.id,
    state: toCriContainerState(record),
    createdAt: millisToNanos(record.createdAt),
    labels: { ...labels },
    annotations: { ...annotations },
    imageId: record.image.id,
  };
}

export function matchesLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => lookUp(labels, key) === value);
}
