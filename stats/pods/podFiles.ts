/**
 * Measures the disk usage of pods: writable layers, logs, volumes and hosts files
 * (`pkg/kubelet/stats/host_stats_provider.go` and `helper.go`).
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from '../../host/pods/layout.ts';
import { allocatedBytes } from '../../host/usage/diskUsage.ts';
import type { FileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import { type FsStats, statsTime, type VolumeStats } from '../node/summary.ts';
import type { PodSample } from '../sample.ts';
import type { LayerUsage } from './criUsage.ts';

export interface PodFiles {
  /** Usage of containers, by container ID. */
  readonly containers: ReadonlyMap<
    string,
    { readonly rootfs?: FsStats | undefined; readonly logs?: FsStats | undefined }
  >;
  readonly volumes: readonly VolumeStats[];
  readonly ephemeralStorage?: FsStats | undefined;
}

/** Inputs that all pods of a measurement share. */
export interface MeasurementContext {
  readonly layout: Pick<Layout, 'podLogDir' | 'containerLogDir' | 'hostsFile'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Usage of the file system that contains the agent's root directory. */
  readonly rootFs?: FileSystemUsage | undefined;
  /** Usage of writable layers, by container ID. */
  readonly layers: ReadonlyMap<string, LayerUsage>;
  /** Usage of the file systems that contain the layers, by mount point. */
  readonly layerFs: ReadonlyMap<string, FileSystemUsage | undefined>;
  readonly volumes: (uid: string) => PodVolumes;
}

/** The results of the last measurement of a pod's volumes. */
export interface PodVolumes {
  readonly allVolumes: readonly VolumeStats[];
  /** The volumes that use the node's own disk. */
  readonly localVolumes: readonly VolumeStats[];
}

interface DiskUsage {
  readonly bytes: number;
  readonly inodes: number;
}

export async function measurePodFiles(pod: PodSample, context: MeasurementContext): Promise<PodFiles> {
  const { layout, now, rootFs, volumes } = context;
  const files = await Promise.all(
    pod.containers.map(async ({ id, name }) => {
      const logUsage = await directoryUsage(layout.containerLogDir(pod, name));
      const containerFiles = {
        rootfs: rootfsStats(context.layers.get(id), context),
        logs: logUsage && fsStats(now, rootFs, logUsage),
      };
      return [id, containerFiles] as const;
    }),
  );
  const containers = new Map(files);
  const measuredVolumes = volumes(pod.uid);
  const podFileUsages = await Promise.all([
    directoryUsage(layout.podLogDir(pod)),
    fileUsage(layout.hostsFile(pod.uid)),
  ]);
  const containerUsages = [...containers.values()].flatMap(({ rootfs, logs }) => [rootfs, logs]);
  const podFileStats = podFileUsages.map((usage) => usage && fsStats(now, rootFs, usage));
  return {
    containers,
    volumes: measuredVolumes.allVolumes,
    ephemeralStorage: sumUsage(fsStats(now, rootFs), [
      ...containerUsages,
      ...measuredVolumes.localVolumes,
      ...podFileStats,
    ]),
  };
}

function rootfsStats(layer: LayerUsage | undefined, { layerFs }: MeasurementContext): FsStats | undefined {
  if (layer === undefined) return undefined;
  const { readAt, mountpoint, usedBytes, inodesUsed } = layer;
  return { ...fsStats(readAt, layerFs.get(mountpoint)), usedBytes, inodesUsed };
}

/** Combines the capacity of a file system with the usage of one of its consumers, e.g. a volume. */
export const fsStats = (readAt: number, fs: FileSystemUsage | undefined, usage?: DiskUsage): FsStats => ({
  time: statsTime(readAt),
  availableBytes: fs?.availableBytes,
  capacityBytes: fs?.capacityBytes,
  usedBytes: usage?.bytes,
  inodesFree: fs?.inodesFree,
  inodes: fs?.inodes,
  inodesUsed: usage?.inodes,
});

function sumUsage(start: FsStats, addends: readonly (FsStats | undefined)[]): FsStats {
  const definedStats = addends.filter((each) => each !== undefined);
  const sum = (values: readonly (number | undefined)[]) => {
    const definedValues = values.filter((each) => each !== undefined);
    return definedValues.length > 0 ? definedValues.reduce((sum, each) => sum + each, 0) : undefined;
  };
  return {
    ...start,
    time: statsTime(Math.max(start.time.ms, ...definedStats.map(({ time }) => time.ms))),
    usedBytes: sum(definedStats.map(({ usedBytes }) => usedBytes)),
    inodesUsed: sum(definedStats.map(({ inodesUsed }) => inodesUsed)),
  };
}

/**
 * Returns the total size of the files directly in a directory, excluding its subdirectories. Undefined if the directory
 * does not exist.
 */
export async function directoryUsage(directory: string): Promise<DiskUsage | undefined> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return undefined;
  const files = entries.filter((entry) => !entry.isDirectory());
  const fileUsages = await Promise.all(files.map(({ name }) => fileUsage(join(directory, name))));
  return fileUsages.reduce<DiskUsage>(
    (sum, each) => ({
      bytes: sum.bytes + (each?.bytes ?? 0),
      inodes: sum.inodes + (each?.inodes ?? 0),
    }),
    NO_USAGE,
  );
}

const NO_USAGE: DiskUsage = { bytes: 0, inodes: 0 };

/** Returns the disk usage of a file without following a symbolic link. */
async function fileUsage(path: string): Promise<DiskUsage | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats && { bytes: allocatedBytes(stats), inodes: 1 };
}
