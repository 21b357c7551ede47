import { lookUp } from '../../base/lookUp.ts';
import type {
  Container,
  ContainerConfig,
  ContainerMetadata,
  Mount,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxMetadata,
} from '../generated/runtime.ts';
import { ContainerState, NamespaceMode, PodSandboxState } from '../generated/runtime.ts';
import { nanoseconds } from './clock.ts';
import type { Process } from './process.ts';
import type { SimulatedContainer, SimulatedSandbox } from './views.ts';

/** A sandbox that was made and is not removed. Times are milliseconds since the epoch. */
export class SandboxRecord implements SimulatedSandbox {
  /** Another one after a restart that gives other ids. */
  id: string;
  readonly reservedName: string;
  readonly metadata: PodSandboxMetadata;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: number;
  /** Of its own process, for as long as that runs. */
  readonly pid: number;
  ready = true;
  ip?: string;
  additionalIps: readonly string[] = [];

  constructor(
    made: Pick<SandboxRecord, 'id' | 'reservedName' | 'metadata' | 'config' | 'runtimeHandler' | 'createdAt' | 'pid'>,
  ) {
    this.id = made.id;
    this.reservedName = made.reservedName;
    this.metadata = made.metadata;
    this.config = made.config;
    this.runtimeHandler = made.runtimeHandler;
    this.createdAt = made.createdAt;
    this.pid = made.pid;
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

/** How far a container is; a created one may be about to be started. */
type Life =
  | { readonly state: 'created'; readonly starting: boolean }
  | {
      readonly state: 'running';
      readonly startedAt: number;
      readonly pid: number;
      readonly process: Process;
      /** Resolves when the exit shows. */
      readonly ended: Promise<void>;
    }
  | {
      readonly state: 'exited';
      readonly startedAt?: number;
      readonly finishedAt: number;
      readonly exitCode: number;
      readonly reason: string;
      readonly message?: string;
    };

/** A container that was made and is not removed. */
export class ContainerRecord implements SimulatedContainer {
  /** Another one after a restart that gives other ids. */
  id: string;
  readonly reservedName: string;
  readonly sandbox: SandboxRecord;
  readonly metadata: ContainerMetadata;
  readonly config: ContainerConfig;
  /** The image's id and the name under which the runtime shows it. */
  readonly image: { readonly id: string; readonly name: string; readonly digest: string };
  readonly createdAt: number;
  life: Life = { state: 'created', starting: false };
  /** What it uses while it runs. */
  memoryBytes = 1024 * 1024;
  removing = false;
  /** Whether the runtime could not take it up when it started, as when its log cannot be opened. */
  unknown = false;
  /** Whether it could not read either what it had noted of it, which is lost then (`unknownContainerStatus` in containerd). */
  unread = false;
  /** Whether the kernel has ever killed a process in it for want of memory. */
  oomKilled = false;

  constructor(
    made: Pick<ContainerRecord, 'id' | 'reservedName' | 'sandbox' | 'metadata' | 'config' | 'image' | 'createdAt'>,
  ) {
    this.id = made.id;
    this.reservedName = made.reservedName;
    this.sandbox = made.sandbox;
    this.metadata = made.metadata;
    this.config = made.config;
    this.image = made.image;
    this.createdAt = made.createdAt;
  }

  /** The runtime has started, and takes it up if it can. */
  doubt({
    unknown,
    unread,
  }: { readonly [kind in 'unknown' | 'unread']?: (container: ContainerRecord) => boolean }): void {
    this.unknown = this.state === 'running' && unknown?.(this) === true;
    if (this.unknown && unread?.(this)) this.unread = true;
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

  get state(): Life['state'] {
    return this.life.state;
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
    return this.life.state === 'created' ? undefined : this.life.startedAt;
  }

  get exitCode(): number | undefined {
    return this.life.state === 'exited' ? this.life.exitCode : undefined;
  }

  get cgroupParent(): string {
    return this.sandbox.cgroupParent;
  }

  get cgroup(): string {
    return `${this.cgroupParent}/${this.id}`;
  }
}

/** Everything that the runtime has. */
export interface Records {
  readonly sandboxes: Map<string, SandboxRecord>;
  readonly containers: Map<string, ContainerRecord>;
}

const CONTAINER_STATES = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
} as const;

/** A container's state as the CRI has it. */
export function containerState({ life, unknown }: ContainerRecord): ContainerState {
  return unknown ? ContainerState.CONTAINER_UNKNOWN : CONTAINER_STATES[life.state];
}

/** A container's state as containerd's messages name it. */
export function containerStateName({ life, unknown }: ContainerRecord): string {
  return unknown ? 'CONTAINER_UNKNOWN' : `CONTAINER_${life.state.toUpperCase()}`;
}

/** Whether a container runs and the runtime knows that. */
export function isRunning(record: ContainerRecord): boolean {
  return containerState(record) === ContainerState.CONTAINER_RUNNING;
}

/** A sandbox's state as the CRI has it. */
function sandboxState({ ready }: SandboxRecord): PodSandboxState {
  return ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

/** A sandbox as a list shows it. */
export function listedSandbox(record: SandboxRecord): PodSandbox {
  return {
    id: record.id,
    metadata: { ...record.metadata },
    state: sandboxState(record),
    createdAt: nanoseconds(record.createdAt),
    labels: { ...record.config.labels },
    annotations: { ...record.config.annotations },
    runtimeHandler: record.runtimeHandler,
  };
}

/** A container as a list shows it. */
export function listedContainer(record: ContainerRecord): Container {
  const { image, metadata, labels, annotations } = record.config;
  return {
    id: record.id,
    podSandboxId: record.sandbox.id,
    metadata: metadata && { ...metadata },
    image: image && { ...image },
    imageRef: record.image.id,
    state: containerState(record),
    createdAt: nanoseconds(record.createdAt),
    labels: { ...labels },
    annotations: { ...annotations },
    imageId: record.image.id,
  };
}

/** Whether the labels carry everything that the selector asks for. */
export function matchesLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => lookUp(labels, key) === value);
}
