/** Parses the block devices of the host and their file systems from files in /proc. */
import { unescapeOctal } from '../files/mountinfo.ts';

/** I/O counters of a block device since boot. Durations are in milliseconds. */
export interface DiskIo {
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeMs: number;
  readonly inProgress: number;
  readonly ioMs: number;
  readonly weightedMs: number;
}

export interface Disk {
  /** Device name without its directory, e.g. `sda1`. */
  readonly name: string;
  readonly io: DiskIo;
}

/** Minimum number of columns after the device name in `/proc/diskstats`. */
const MIN_COLUMNS = 11;

/** Parses `/proc/diskstats` into disks by device number, e.g. `8:0`. Invalid lines are ignored. */
export function parseDiskStats(text: string): ReadonlyMap<string, Disk> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [major, minor, name = '', ...columns] = line.trim().split(/\s+/);
      const fieldValues = columns.map(Number);
      if (fieldValues.length < MIN_COLUMNS || fieldValues.some(Number.isNaN)) return [];
      const [reads = 0, readsMerged = 0, sectorsRead = 0, readMs = 0] = fieldValues;
      const [writes = 0, writesMerged = 0, sectorsWritten = 0, writeMs = 0] = fieldValues.slice(4);
      const [inProgress = 0, ioMs = 0, weightedMs = 0] = fieldValues.slice(8);
      const readFields = { reads, readsMerged, sectorsRead, readMs };
      const writeFields = { writes, writesMerged, sectorsWritten, writeMs };
      return [
        [`${major}:${minor}`, { name, io: { ...readFields, ...writeFields, inProgress, ioMs, weightedMs } }] as const,
      ];
    }),
  );
}

/** A file system on a local block device. */
export interface LocalFileSystem {
  /** A path in the file system. */
  readonly path: string;
  /** Device as mounted, e.g. `/dev/sda1`. */
  readonly device: string;
  /** Device number, e.g. `8:1`. */
  readonly deviceNumber: string;
}

/** Types of file systems on block devices (cAdvisor's `fs` plugins, except memory file systems and image layers). */
const DISK_TYPES_PATTERN = /^(ext[234]|xfs|btrfs|zfs)$/;

/** Pattern of a line of mountinfo. Captures the device number, the mount point, the file system type and the source. */
const MOUNTINFO_LINE = /^\S+ \S+ (\d+:\d+) \S+ (\S+) .*? - (\S+) (\S+)/;

/** Parses a `mountinfo` file into the file systems, each with its first mount point. */
export function parseFileSystems(mountinfo: string): readonly LocalFileSystem[] {
  const fileSystems = new Map<string, LocalFileSystem>();
  for (const line of mountinfo.split('\n')) {
    const [, deviceNumber, path, type = '', source] = MOUNTINFO_LINE.exec(line) ?? [];
    if (deviceNumber === undefined || path === undefined || source === undefined || !DISK_TYPES_PATTERN.test(type))
      continue;
    const device = unescapeOctal(source);
    if (!fileSystems.has(device)) fileSystems.set(device, { path: unescapeOctal(path), device, deviceNumber });
  }
  return [...fileSystems.values()];
}
