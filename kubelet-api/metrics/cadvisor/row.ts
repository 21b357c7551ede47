/** A cgroup as /metrics/cadvisor shows it: that of the node, of pods, of a sandbox or of a container. */
import type { CgroupUsage } from '../../../host/cgroup/usage/cgroupUsage.ts';
import type { OpenFiles } from '../../../host/cgroup/usage/openFiles.ts';
import type { DiskIo } from '../../../host/usage/disks.ts';
import type { InterfaceUsage } from '../../../host/usage/netDev.ts';
import { labelText } from '../exposition.ts';

export interface Row {
  /** In the order of their names. */
  readonly labels: readonly Label[];
  /** The same as they are written. */
  readonly labelText: string;
  readonly usage: CgroupUsage;
  /** When it was made, in milliseconds since the epoch. */
  readonly madeAt?: number | undefined;
  /** Of the node, and of a sandbox: who shares its network would have the same. */
  readonly network?: { readonly readAt: number; readonly interfaces: readonly InterfaceUsage[] } | undefined;
  readonly files?: OpenFiles | undefined;
  /** Of the node. */
  readonly disks?: readonly DiskUsage[] | undefined;
}

export type Label = readonly [name: string, value: string];

/** A file system of the node, and what went to its device and came from there since the host began. */
export interface DiskUsage {
  readonly device: string;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly io?: DiskIo | undefined;
}

/** Who a row is of; what is absent is empty (`containerPrometheusLabelsFunc` in `pkg/kubelet/server/server.go`). */
export interface RowOf {
  /** The cgroup's path. */
  readonly id: string;
  readonly container?: string;
  readonly image?: string;
  /** The ID of the container or sandbox. */
  readonly name?: string;
  readonly namespace?: string;
  readonly pod?: string;
}

export function rowLabels({ id, container = '', image = '', name = '', namespace = '', pod = '' }: RowOf) {
  const labels = Object.entries({ container, id, image, name, namespace, pod });
  return { labels, labelText: labelText(labels) };
}

/** A row's labels with some of one sample, in the order of their names. */
export const withLabels = ({ labels }: Pick<Row, 'labels'>, more: readonly Label[]): string =>
  labelText([...labels, ...more].toSorted(([one], [other]) => (one < other ? -1 : 1)));
