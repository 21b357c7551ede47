import { lookUp } from '../../pod/lookUp.ts';
import type {
  Container,
  ContainerConfig,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxMetadata,
} from '../generated/runtime.ts';
import { ContainerState, PodSandboxState } from '../generated/runtime.ts';
import { nanoseconds } from './clock.ts';
import type { Process } from './process.ts';

/** A sandbox that was made and is not removed. Times are milliseconds since the epoch. */
export interface SandboxRecord {
  readonly id: string;
  /** Its reserved name. */
  readonly name: string;
  readonly metadata: PodSandboxMetadata;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: number;
  ready: boolean;
  /** Absent with the host's network, and once it is stopped. */
  ip?: string;
}

/** How far a container is; a created one may be about to be started. */
type Life =
  | { readonly state: 'created'; readonly starting: boolean }
  | {
      readonly state: 'running';
      readonly startedAt: number;
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
export interface ContainerRecord {
  readonly id: string;
  /** Its reserved name. */
  readonly name: string;
  readonly sandbox: SandboxRecord;
  readonly config: ContainerConfig;
  /** The image's id and the name under which the runtime shows it. */
  readonly image: { readonly id: string; readonly name: string; readonly digest: string };
  readonly createdAt: number;
  life: Life;
  /** What it uses; nothing when absent. */
  memoryBytes?: number;
  removing: boolean;
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
export function containerState({ life }: ContainerRecord): ContainerState {
  return CONTAINER_STATES[life.state];
}

/** A container's state as containerd's messages name it. */
export function containerStateName({ life }: ContainerRecord): string {
  return `CONTAINER_${life.state.toUpperCase()}`;
}

/** A sandbox's state as the CRI has it. */
export function sandboxState({ ready }: SandboxRecord): PodSandboxState {
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
