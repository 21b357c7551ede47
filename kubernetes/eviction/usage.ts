/** Describes the resource usage of pods that is relevant to evictions. */
import type { StarvedResource } from './signals.ts';

/** Disk usage. An undefined amount could not be measured. */
export interface DiskUsage {
  readonly bytes?: number | undefined;
  readonly inodes?: number | undefined;
}

export interface ContainerUsage {
  readonly name: string;
  /** Working set in bytes. */
  readonly memoryBytes?: number | undefined;
  /** Usage of the writable layer. */
  readonly rootfs?: DiskUsage | undefined;
  readonly logs?: DiskUsage | undefined;
}

export interface PodUsage {
  /** Working set in bytes. */
  readonly memoryBytes?: number | undefined;
  readonly processes?: number | undefined;
  readonly containers: readonly ContainerUsage[];
  /** Usage of the measured volumes. */
  readonly volumes: readonly (DiskUsage & { readonly name: string })[];
  /** Total usage of the node's disk by the pod, in bytes. */
  readonly ephemeralStorageBytes?: number | undefined;
}

/** The resource whose usage is measured. `everything` includes every resource. */
export type MeasuredResource = StarvedResource | 'everything';

/** Usages by the UID of the pod. */
export type PodUsages = Readonly<Record<string, PodUsage>>;
