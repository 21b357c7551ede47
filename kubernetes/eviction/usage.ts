/** Describes the resources that pods use, as far as evictions depend on them. */

/** Disk usage. An undefined amount could not be measured. */
export interface DiskUsage {
  readonly bytes?: number | undefined;
  readonly inodes?: number | undefined;
}

export interface ContainerUsage {
  readonly name: string;
  /** Working set in bytes. */
  readonly memoryBytes?: number | undefined;
  /** The writable layer. */
  readonly rootfs?: DiskUsage | undefined;
  readonly logs?: DiskUsage | undefined;
}

export interface PodUsage {
  /** Working set in bytes. */
  readonly memoryBytes?: number | undefined;
  readonly processes?: number | undefined;
  readonly containers: readonly ContainerUsage[];
  /** The measured volumes. */
  readonly volumes: readonly (DiskUsage & { readonly name: string })[];
  /** Everything that the pod has on the node's disk, in bytes. */
  readonly ephemeralStorageBytes?: number | undefined;
}

/** Usages by the UID of the pod. */
export type PodUsages = Readonly<Record<string, PodUsage>>;
