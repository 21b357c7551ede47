/** The block devices of the host and the file systems on them, by texts of /proc. */
import { unescapeOctal } from '../files/mountinfo.ts';

/** A block device, and what went to it and came from it since the host began. Times are in milliseconds. */
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
  /** Without its directory: `sda1`. */
  readonly name: string;
  readonly io: DiskIo;
}

/** Numbers after the name of a device in each line of `/proc/diskstats`, at least. */
const COLUMNS = 11;

/** Reads the text of `/proc/diskstats`: each block device by its numbers, `8:0`. Lines that are none are left out. */
export function parseDiskStats(text: string): ReadonlyMap<string, Disk> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [major, minor, name = '', ...columns] = line.trim().split(/\s+/);
      const values = columns.map(Number);
      if (values.length < COLUMNS || values.some(Number.isNaN)) return [];
      const [reads = 0, readsMerged = 0, sectorsRead = 0, readMs = 0] = values;
      const [writes = 0, writesMerged = 0, sectorsWritten = 0, writeMs = 0] = values.slice(4);
      const [inProgress = 0, ioMs = 0, weightedMs = 0] = values.slice(8);
      const read = { reads, readsMerged, sectorsRead, readMs };
      const written = { writes, writesMerged, sectorsWritten, writeMs };
      return [[`${major}:${minor}`, { name, io: { ...read, ...written, inProgress, ioMs, weightedMs } }] as const];
    }),
  );
}

/** A file system on a device of this host. */
export interface LocalFileSystem {
  /** A path on it. */
  readonly path: string;
  /** As it was mounted: `/dev/sda1`. */
  readonly device: string;
  /** Of its device: `8:1`. */
  readonly numbers: string;
}

/** Those that lie on block devices (cAdvisor's `fs` plugins, without those of memory and of layers of images). */
const TYPES = /^(ext[234]|xfs|btrfs|zfs)$/;

/** Numbers, root, mount point, options and more, a dash, type, source. */
const LINE = /^\S+ \S+ (\d+:\d+) \S+ (\S+) .*? - (\S+) (\S+)/;

/** Reads the text of a `mountinfo` file: each file system where it is mounted first. */
export function parseFileSystems(mountinfo: string): readonly LocalFileSystem[] {
  const found = new Map<string, LocalFileSystem>();
  for (const line of mountinfo.split('\n')) {
    const [, numbers, path, type = '', source] = LINE.exec(line) ?? [];
    if (numbers === undefined || path === undefined || source === undefined || !TYPES.test(type)) continue;
    const device = unescapeOctal(source);
    if (!found.has(device)) found.set(device, { path: unescapeOctal(path), device, numbers });
  }
  return [...found.values()];
}
