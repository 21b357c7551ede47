/**
 * Defines the metrics of block devices, file systems and network interfaces, with cAdvisor's names
 * (`metrics/prometheus.go` of cAdvisor).
 */
import type { DeviceUsage } from '../../../host/cgroup/usage/cgroupUsage.ts';
import type { DiskIo } from '../../../host/usage/disks.ts';
import type { InterfaceUsage } from '../../../host/usage/netDev.ts';
import { counter, gauge, type LabelledValue, type Metric } from './metric.ts';
import type { DiskUsage, Label, Row } from './row.ts';

/** Returns a unique name for a block device. */
export type NameDevice = (device: Pick<DeviceUsage, 'major' | 'minor'>) => string;

/** Reads the I/O of a cgroup by device. For the node, `readDisk` adds the I/O of its file systems' disks. */
const deviceIo =
  (nameOf: NameDevice, kind: 'bytes' | 'operations', operation: string, readDisk?: (io: DiskIo) => number) =>
  (row: Row): readonly LabelledValue[] => [
    ...(row.usage.io ?? []).flatMap((device): LabelledValue[] => {
      const value = device[kind].get(operation);
      return value === undefined ? [] : [{ labels: [['device', nameOf(device)]], value }];
    }),
    ...(readDisk === undefined ? [] : diskIoValues(readDisk)(withoutCountedDisks(row, nameOf))),
  ];

/** Removes the disks whose I/O the node's root cgroup already includes. */
function withoutCountedDisks({ usage, disks, ...row }: Row, nameOf: NameDevice): Row {
  const counted = new Set(usage.io?.map(nameOf));
  return { ...row, usage, disks: disks?.filter(({ device }) => !counted.has(device)) };
}

const blkio =
  (nameOf: NameDevice) =>
  ({ usage: { io = [] } }: Row): readonly LabelledValue[] =>
    io.flatMap((device) => {
      const numberLabels: readonly Label[] = [
        ['major', String(device.major)],
        ['minor', String(device.minor)],
      ];
      const deviceLabels: readonly Label[] = [['device', nameOf(device)], ...numberLabels];
      return Array.from(device.bytes, ([operation, value]) => ({
        labels: [...deviceLabels, ['operation', operation]],
        value,
      }));
    });

/** Reads a value of each of the node's file systems. Only the node's row has file systems. */
const diskValues =
  (read: (disk: DiskUsage) => number) =>
  ({ disks = [] }: Row): readonly LabelledValue[] =>
    disks.map((each) => ({ labels: [['device', each.device]], value: read(each) }));

const diskIoValues =
  (read: (io: DiskIo) => number) =>
  ({ disks = [] }: Row): readonly LabelledValue[] =>
    disks.flatMap(({ device, io }) => (io === undefined ? [] : [{ labels: [['device', device]], value: read(io) }]));

const MS_PER_SECOND = 1_000;
const diskIoSeconds = (read: (io: DiskIo) => number) => diskIoValues((io) => read(io) / MS_PER_SECOND);

const DISKS: readonly Metric[] = [
  gauge(
    'container_fs_inodes_free',
    'Number of available Inodes',
    diskValues(({ inodesFree }) => inodesFree),
  ),
  gauge(
    'container_fs_inodes_total',
    'Number of Inodes',
    diskValues(({ inodes }) => inodes),
  ),
  gauge(
    'container_fs_limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    diskValues(({ capacityBytes }) => capacityBytes),
  ),
  gauge(
    'container_fs_usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    diskValues(({ usedBytes }) => usedBytes),
  ),
  counter(
    ...(['container_fs_sector_reads_total', 'Cumulative count of sector reads completed'] as const),
    diskIoValues(({ sectorsRead }) => sectorsRead),
  ),
  counter(
    ...(['container_fs_reads_merged_total', 'Cumulative count of reads merged'] as const),
    diskIoValues(({ readsMerged }) => readsMerged),
  ),
  counter(
    ...(['container_fs_read_seconds_total', 'Cumulative count of seconds spent reading'] as const),
    diskIoSeconds(({ readMs }) => readMs),
  ),
  counter(
    ...(['container_fs_sector_writes_total', 'Cumulative count of sector writes completed'] as const),
    diskIoValues(({ sectorsWritten }) => sectorsWritten),
  ),
  counter(
    ...(['container_fs_writes_merged_total', 'Cumulative count of writes merged'] as const),
    diskIoValues(({ writesMerged }) => writesMerged),
  ),
  counter(
    ...(['container_fs_write_seconds_total', 'Cumulative count of seconds spent writing'] as const),
    diskIoSeconds(({ writeMs }) => writeMs),
  ),
  gauge(
    ...(['container_fs_io_current', 'Number of I/Os currently in progress'] as const),
    diskIoValues(({ inProgress }) => inProgress),
  ),
  counter(
    ...(['container_fs_io_time_seconds_total', 'Cumulative count of seconds spent doing I/Os'] as const),
    diskIoSeconds(({ ioMs }) => ioMs),
  ),
  counter(
    ...(['container_fs_io_time_weighted_seconds_total', 'Cumulative weighted I/O time in seconds'] as const),
    diskIoSeconds(({ weightedMs }) => weightedMs),
  ),
];

function networkCounter(name: string, help: string, readInterface: (usage: InterfaceUsage) => number): Metric {
  const read = ({ network }: Row): readonly LabelledValue[] =>
    network?.interfaces.map((each) => ({ labels: [['interface', each.name]], value: readInterface(each) })) ?? [];
  return counter(`container_network_${name}_total`, `Cumulative count of ${help}`, read, {
    timestampOf: (row) => row.network?.readAt,
  });
}

const NETWORK: readonly Metric[] = [
  networkCounter('receive_bytes', 'bytes received', ({ rxBytes }) => rxBytes),
  networkCounter('receive_packets', 'packets received', ({ rxPackets }) => rxPackets),
  networkCounter('receive_packets_dropped', 'packets dropped while receiving', ({ rxDropped }) => rxDropped),
  networkCounter('receive_errors', 'errors encountered while receiving', ({ rxErrors }) => rxErrors),
  networkCounter('transmit_bytes', 'bytes transmitted', ({ txBytes }) => txBytes),
  networkCounter('transmit_packets', 'packets transmitted', ({ txPackets }) => txPackets),
  networkCounter('transmit_packets_dropped', 'packets dropped while transmitting', ({ txDropped }) => txDropped),
  networkCounter('transmit_errors', 'errors encountered while transmitting', ({ txErrors }) => txErrors),
];

export const deviceMetrics = (nameOf: NameDevice): readonly Metric[] => [
  counter('container_fs_reads_bytes_total', 'Cumulative count of bytes read', deviceIo(nameOf, 'bytes', 'Read')),
  counter(
    ...(['container_fs_reads_total', 'Cumulative count of reads completed'] as const),
    deviceIo(nameOf, 'operations', 'Read', ({ reads }) => reads),
  ),
  counter('container_fs_writes_bytes_total', 'Cumulative count of bytes written', deviceIo(nameOf, 'bytes', 'Write')),
  counter(
    ...(['container_fs_writes_total', 'Cumulative count of writes completed'] as const),
    deviceIo(nameOf, 'operations', 'Write', ({ writes }) => writes),
  ),
  counter('container_blkio_device_usage_total', 'Blkio Device bytes usage', blkio(nameOf)),
  ...DISKS,
  ...NETWORK,
];
