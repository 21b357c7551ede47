/**
 * Defines the rows of `/metrics/cadvisor`. Each row represents the cgroup of the node, of a group of pods, of a pod, of
 * a sandbox or of a container.
 */
import type { CgroupUsage } from '../../../host/cgroup/usage/cgroupUsage.ts';
import type { OpenFiles } from '../../../host/cgroup/usage/openFiles.ts';
import type { DiskIo } from '../../../host/usage/disks.ts';
import type { InterfaceUsage } from '../../../host/usage/netDev.ts';
import { formatLabels } from '../exposition.ts';

export interface Row {
  /** The row's labels, sorted by name. */
  readonly labels: readonly Label[];
  /** The result of `formatLabels` for `labels`. */
  readonly labelText: string;
  readonly usage: CgroupUsage;
  /** Milliseconds since the epoch. */
  readonly createdAt?: number | undefined;
  /** Present only for the node and for sandboxes, because the containers of a pod share the network of its sandbox. */
  readonly network?: { readonly readAt: number; readonly interfaces: readonly InterfaceUsage[] } | undefined;
  readonly files?: OpenFiles | undefined;
  /** Present only for the node. */
  readonly disks?: readonly DiskUsage[] | undefined;
}

export type Label = readonly [name: string, value: string];

/** A file system of the node, with the I/O of its device since boot. */
export interface DiskUsage {
  readonly device: string;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly io?: DiskIo | undefined;
}

/**
 * The labels that identify a row's cgroup. Undefined fields become empty labels (`containerPrometheusLabelsFunc` in
 * `pkg/kubelet/server/server.go`).
 */
export interface RowIdentity {
  /** The cgroup's path. */
  readonly id: string;
  readonly container?: string;
  readonly image?: string;
  /** The ID of the container or sandbox. */
  readonly name?: string;
  readonly namespace?: string;
  readonly pod?: string;
}

export function rowLabels({ id, container = '', image = '', name = '', namespace = '', pod = '' }: RowIdentity) {
  const labels = Object.entries({ container, id, image, name, namespace, pod });
  return { labels, labelText: formatLabels(labels) };
}

/** Formats a row's labels together with the labels of a sample, sorted by name. */
export const appendLabels = ({ labels }: Pick<Row, 'labels'>, extraLabels: readonly Label[]): string =>
  formatLabels([...labels, ...extraLabels].toSorted(([left], [right]) => (left < right ? -1 : 1)));
