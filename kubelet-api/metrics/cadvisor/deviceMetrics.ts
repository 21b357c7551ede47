/**
 * Defines the metrics of block devices, file systems and network interfaces, with cAdvisor's names
 * (`metrics/prometheus.go` of cAdvisor).
 */
import type { DeviceUsage } from '../../../host/cgroup/usage/cgroupUsage.ts';
import type { DiskIo } from '../../../host/usage/disks.ts';
import type { InterfaceUsage } from '../../../host/usage/netDev.ts';
import { createCounter, createGauge, type LabelledValue, type Metric } from './metric.ts';
import type { DiskUsage, Label, Row } from './row.ts';

/** Returns a unique name for a block device. */
export type GetDeviceName = (device: Pick<DeviceUsage, 'major' | 'minor'>) => string;

/**
 * Reads the I/O of a cgroup by device. For the node, `readDisk` adds the I/O of the disks that contain the node's file
 * systems.
 */
const deviceIoValues =
  (nameOf: GetDeviceName, kind: 'bytes' | 'operations', operation: string, readDisk?: (io: DiskIo) => number) =>
  (row: Row): readonly LabelledValue[] => [
    ...(row.usage.io ?? []).flatMap((device): LabelledValue[] => {
      const value = device[kind].get(operation);
      return value === undefined ? [] : [{ labels: [['device', nameOf(device)]], value }];
    }),
    ...(readDisk === undefined ? [] : diskIoValues(readDisk)(omitCountedDisks(row, nameOf))),
  ];

/** Removes the disks whose I/O is already included in the node's root cgroup. */
function omitCountedDisks({ usage, disks, ...row }: Row, nameOf: GetDeviceName): Row {
  const countedDevices = new Set(usage.io?.map(nameOf));
  return { ...row, usage, disks: disks?.filter(({ device }) => !countedDevices.has(device)) };
}

const blkioValues =
  (nameOf: GetDeviceName) =>
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

const MICROS_PER_SECOND = 1_000_000;

/** Reads a counter of the I/O cost model in seconds, by device. A device without the model has no value. */
const costSecondsValues =
  (nameOf: GetDeviceName, field: string) =>
  ({ usage: { io = [] } }: Row): readonly LabelledValue[] =>
    io.flatMap((device): LabelledValue[] => {
      const micros = device.costMicros?.get(field);
      return micros === undefined ? [] : [{ labels: [['device', nameOf(device)]], value: micros / MICROS_PER_SECOND }];
    });

/** Reads one value from each of the node's file systems. Only the node's row has file systems. */
const diskValues =
  (read: (disk: DiskUsage) => number) =>
  ({ disks = [] }: Row): readonly LabelledValue[] =>
    disks.map((each) => ({ labels: [['device', each.device]], value: read(each) }));

const diskIoValues =
  (read: (io: DiskIo) => number) =>
  ({ disks = [] }: Row): readonly LabelledValue[] =>
    disks.flatMap(({ device, io }) => (io === undefined ? [] : [{ labels: [['device', device]], value: read(io) }]));

const MS_PER_SECOND = 1_000;
const diskIoSecondsValues = (read: (io: DiskIo) => number) => diskIoValues((io) => read(io) / MS_PER_SECOND);

const DISK_METRICS: readonly Metric[] = [
  createGauge(
    'container_fs_inodes_free',
    'Number of available Inodes',
    diskValues(({ inodesFree }) => inodesFree),
  ),
  createGauge(
    'container_fs_inodes_total',
    'Number of Inodes',
    diskValues(({ inodes }) => inodes),
  ),
  createGauge(
    'container_fs_limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    diskValues(({ capacityBytes }) => capacityBytes),
  ),
  createGauge(
    'container_fs_usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    diskValues(({ usedBytes }) => usedBytes),
  ),
  createCounter(
    ...(['container_fs_sector_reads_total', 'Cumulative count of sector reads completed'] as const),
    diskIoValues(({ sectorsRead }) => sectorsRead),
  ),
  createCounter(
    ...(['container_fs_reads_merged_total', 'Cumulative count of reads merged'] as const),
    diskIoValues(({ readsMerged }) => readsMerged),
  ),
  createCounter(
    ...(['container_fs_read_seconds_total', 'Cumulative count of seconds spent reading'] as const),
    diskIoSecondsValues(({ readMs }) => readMs),
  ),
  createCounter(
    ...(['container_fs_sector_writes_total', 'Cumulative count of sector writes completed'] as const),
    diskIoValues(({ sectorsWritten }) => sectorsWritten),
  ),
  createCounter(
    ...(['container_fs_writes_merged_total', 'Cumulative count of writes merged'] as const),
    diskIoValues(({ writesMerged }) => writesMerged),
  ),
  createCounter(
    ...(['container_fs_write_seconds_total', 'Cumulative count of seconds spent writing'] as const),
    diskIoSecondsValues(({ writeMs }) => writeMs),
  ),
  createGauge(
    ...(['container_fs_io_current', 'Number of I/Os currently in progress'] as const),
    diskIoValues(({ inProgress }) => inProgress),
  ),
  createCounter(
    ...(['container_fs_io_time_seconds_total', 'Cumulative count of seconds spent doing I/Os'] as const),
    diskIoSecondsValues(({ ioMs }) => ioMs),
  ),
  createCounter(
    ...(['container_fs_io_time_weighted_seconds_total', 'Cumulative weighted I/O time in seconds'] as const),
    diskIoSecondsValues(({ weightedMs }) => weightedMs),
  ),
];

function networkCounter(name: string, help: string, readInterface: (usage: InterfaceUsage) => number): Metric {
  const readValues = ({ network }: Row): readonly LabelledValue[] =>
    network?.interfaces.map((each) => ({ labels: [['interface', each.name]], value: readInterface(each) })) ?? [];
  return createCounter(`container_network_${name}_total`, `Cumulative count of ${help}`, readValues, {
    timestampOf: (row) => row.network?.readAt,
  });
}

const NETWORK_METRICS: readonly Metric[] = [
  networkCounter('receive_bytes', 'bytes received', ({ rxBytes }) => rxBytes),
  networkCounter('receive_packets', 'packets received', ({ rxPackets }) => rxPackets),
  networkCounter('receive_packets_dropped', 'packets dropped while receiving', ({ rxDropped }) => rxDropped),
  networkCounter('receive_errors', 'errors encountered while receiving', ({ rxErrors }) => rxErrors),
  networkCounter('transmit_bytes', 'bytes transmitted', ({ txBytes }) => txBytes),
  networkCounter('transmit_packets', 'packets transmitted', ({ txPackets }) => txPackets),
  networkCounter('transmit_packets_dropped', 'packets dropped while transmitting', ({ txDropped }) => txDropped),
  networkCounter('transmit_errors', 'errors encountered while transmitting', ({ txErrors }) => txErrors),
];

export const deviceMetrics = (nameOf: GetDeviceName): readonly Metric[] => [
  createCounter(
    'container_fs_reads_bytes_total',
    'Cumulative count of bytes read',
    deviceIoValues(nameOf, 'bytes', 'Read'),
  ),
  createCounter(
    ...(['container_fs_reads_total', 'Cumulative count of reads completed'] as const),
    deviceIoValues(nameOf, 'operations', 'Read', ({ reads }) => reads),
  ),
  createCounter(
    'container_fs_writes_bytes_total',
    'Cumulative count of bytes written',
    deviceIoValues(nameOf, 'bytes', 'Write'),
  ),
  createCounter(
    ...(['container_fs_writes_total', 'Cumulative count of writes completed'] as const),
    deviceIoValues(nameOf, 'operations', 'Write', ({ writes }) => writes),
  ),
  createCounter(
    'container_fs_io_cost_usage_seconds_total',
    'Cumulative IOCost usage in seconds',
    costSecondsValues(nameOf, 'cost.usage'),
  ),
  createCounter(
    'container_fs_io_cost_wait_seconds_total',
    'Cumulative IOCost wait in seconds',
    costSecondsValues(nameOf, 'cost.wait'),
  ),
  createCounter(
    'container_fs_io_cost_indebt_seconds_total',
    'Cumulative IOCost debt in seconds',
    costSecondsValues(nameOf, 'cost.indebt'),
  ),
  createCounter(
    'container_fs_io_cost_indelay_seconds_total',
    'Cumulative IOCost delay in seconds',
    costSecondsValues(nameOf, 'cost.indelay'),
  ),
  createCounter('container_blkio_device_usage_total', 'Blkio Device bytes usage', blkioValues(nameOf)),
  ...DISK_METRICS,
  ...NETWORK_METRICS,
];
