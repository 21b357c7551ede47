/** Block devices, file systems and network interfaces of a cgroup, as cAdvisor names them (`metrics/prometheus.go` there). */
import type { DeviceUsage } from '../../../host/cgroup/usage/cgroupUsage.ts';
import type { DiskIo } from '../../../host/usage/disks.ts';
import type { InterfaceUsage } from '../../../host/usage/netDev.ts';
import { counter, gauge, type Labelled, type Metric } from './metric.ts';
import type { DiskUsage, Label, Row } from './row.ts';

/** Names a block device by its numbers, each differently. */
export type NameDevice = (device: Pick<DeviceUsage, 'major' | 'minor'>) => string;

/** By device: what the cgroup did, and on the node what all did to its file systems. */
const done =
  (nameOf: NameDevice, kind: 'bytes' | 'operations', operation: string, ofDisk?: (io: DiskIo) => number) =>
  (row: Row): readonly Labelled[] => [
    ...(row.usage.io ?? []).flatMap((device): Labelled[] => {
      const value = device[kind].get(operation);
      return value === undefined ? [] : [{ labels: [['device', nameOf(device)]], value }];
    }),
    ...(ofDisk === undefined ? [] : diskIo(ofDisk)(withoutDone(row, nameOf))),
  ];

/** A device that the node's own cgroup counts is not counted twice. */
function withoutDone({ usage, disks, ...row }: Row, nameOf: NameDevice): Row {
  const done = new Set(usage.io?.map(nameOf));
  return { ...row, usage, disks: disks?.filter(({ device }) => !done.has(device)) };
}

const blkio =
  (nameOf: NameDevice) =>
  ({ usage: { io = [] } }: Row): readonly Labelled[] =>
    io.flatMap((device) => {
      const numbers: readonly Label[] = [
        ['major', String(device.major)],
        ['minor', String(device.minor)],
      ];
      const named: readonly Label[] = [['device', nameOf(device)], ...numbers];
      return Array.from(device.bytes, ([operation, value]) => ({
        labels: [...named, ['operation', operation]],
        value,
      }));
    });

/** On the node: of each of its file systems. */
const disk =
  (take: (disk: DiskUsage) => number) =>
  ({ disks = [] }: Row): readonly Labelled[] =>
    disks.map((each) => ({ labels: [['device', each.device]], value: take(each) }));

const diskIo =
  (take: (io: DiskIo) => number) =>
  ({ disks = [] }: Row): readonly Labelled[] =>
    disks.flatMap(({ device, io }) => (io === undefined ? [] : [{ labels: [['device', device]], value: take(io) }]));

const MS = 1_000;
const seconds = (take: (io: DiskIo) => number) => diskIo((io) => take(io) / MS);

const DISKS: readonly Metric[] = [
  gauge(
    'container_fs_inodes_free',
    'Number of available Inodes',
    disk(({ inodesFree }) => inodesFree),
  ),
  gauge(
    'container_fs_inodes_total',
    'Number of Inodes',
    disk(({ inodes }) => inodes),
  ),
  gauge(
    'container_fs_limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    disk(({ capacityBytes }) => capacityBytes),
  ),
  gauge(
    'container_fs_usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    disk(({ usedBytes }) => usedBytes),
  ),
  counter(
    ...(['container_fs_sector_reads_total', 'Cumulative count of sector reads completed'] as const),
    diskIo(({ sectorsRead }) => sectorsRead),
  ),
  counter(
    ...(['container_fs_reads_merged_total', 'Cumulative count of reads merged'] as const),
    diskIo(({ readsMerged }) => readsMerged),
  ),
  counter(
    ...(['container_fs_read_seconds_total', 'Cumulative count of seconds spent reading'] as const),
    seconds(({ readMs }) => readMs),
  ),
  counter(
    ...(['container_fs_sector_writes_total', 'Cumulative count of sector writes completed'] as const),
    diskIo(({ sectorsWritten }) => sectorsWritten),
  ),
  counter(
    ...(['container_fs_writes_merged_total', 'Cumulative count of writes merged'] as const),
    diskIo(({ writesMerged }) => writesMerged),
  ),
  counter(
    ...(['container_fs_write_seconds_total', 'Cumulative count of seconds spent writing'] as const),
    seconds(({ writeMs }) => writeMs),
  ),
  gauge(
    ...(['container_fs_io_current', 'Number of I/Os currently in progress'] as const),
    diskIo(({ inProgress }) => inProgress),
  ),
  counter(
    ...(['container_fs_io_time_seconds_total', 'Cumulative count of seconds spent doing I/Os'] as const),
    seconds(({ ioMs }) => ioMs),
  ),
  counter(
    ...(['container_fs_io_time_weighted_seconds_total', 'Cumulative weighted I/O time in seconds'] as const),
    seconds(({ weightedMs }) => weightedMs),
  ),
];

function network(name: string, help: string, take: (each: InterfaceUsage) => number): Metric {
  const of = ({ network: found }: Row): readonly Labelled[] =>
    found?.interfaces.map((each) => ({ labels: [['interface', each.name]], value: take(each) })) ?? [];
  return counter(`container_network_${name}_total`, `Cumulative count of ${help}`, of, {
    at: (row) => row.network?.readAt,
  });
}

const NETWORK: readonly Metric[] = [
  network('receive_bytes', 'bytes received', ({ rxBytes }) => rxBytes),
  network('receive_packets', 'packets received', ({ rxPackets }) => rxPackets),
  network('receive_packets_dropped', 'packets dropped while receiving', ({ rxDropped }) => rxDropped),
  network('receive_errors', 'errors encountered while receiving', ({ rxErrors }) => rxErrors),
  network('transmit_bytes', 'bytes transmitted', ({ txBytes }) => txBytes),
  network('transmit_packets', 'packets transmitted', ({ txPackets }) => txPackets),
  network('transmit_packets_dropped', 'packets dropped while transmitting', ({ txDropped }) => txDropped),
  network('transmit_errors', 'errors encountered while transmitting', ({ txErrors }) => txErrors),
];

export const deviceMetrics = (nameOf: NameDevice): readonly Metric[] => [
  counter('container_fs_reads_bytes_total', 'Cumulative count of bytes read', done(nameOf, 'bytes', 'Read')),
  counter(
    ...(['container_fs_reads_total', 'Cumulative count of reads completed'] as const),
    done(nameOf, 'operations', 'Read', ({ reads }) => reads),
  ),
  counter('container_fs_writes_bytes_total', 'Cumulative count of bytes written', done(nameOf, 'bytes', 'Write')),
  counter(
    ...(['container_fs_writes_total', 'Cumulative count of writes completed'] as const),
    done(nameOf, 'operations', 'Write', ({ writes }) => writes),
  ),
  counter('container_blkio_device_usage_total', 'Blkio Device bytes usage', blkio(nameOf)),
  ...DISKS,
  ...NETWORK,
];
