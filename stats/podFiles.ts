/** What pods take on disk: layers, logs, volumes, their hosts file (`pkg/kubelet/stats/host_stats_provider.go` and `helper.go`). */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from '../host/pods/layout.ts';
import { takenBy } from '../host/usage/diskUsage.ts';
import type { FileSystemUsage } from '../host/usage/fileSystemUsage.ts';
import type { LayerUsage } from './criUsage.ts';
import type { PodSample } from './sample.ts';
import { type FsStats, timeOf, type VolumeStats } from './summary.ts';

/** What is on disk of one pod. */
export interface PodFiles {
  /** By container id. */
  readonly containers: ReadonlyMap<
    string,
    { readonly rootfs?: FsStats | undefined; readonly logs?: FsStats | undefined }
  >;
  readonly volumes: readonly VolumeStats[];
  readonly ephemeralStorage?: FsStats | undefined;
}

/** What is known when the files of pods are counted. */
export interface FilesGround {
  readonly layout: Pick<Layout, 'podLogDir' | 'containerLogDir' | 'hostsFile'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The file system that the root directory is on. */
  readonly rootFs?: FileSystemUsage | undefined;
  /** What containers have written, by id. */
  readonly layers: ReadonlyMap<string, LayerUsage>;
  /** The file systems of layers, by where they are. */
  readonly layerFs: ReadonlyMap<string, FileSystemUsage | undefined>;
  readonly volumes: (uid: string) => PodVolumes;
}

/** The volumes of a pod as they were last counted. */
export interface PodVolumes {
  readonly all: readonly VolumeStats[];
  /** Those that take of the node's own disk. */
  readonly local: readonly VolumeStats[];
}

interface Taken {
  readonly bytes: number;
  readonly inodes: number;
}

export async function podFiles(pod: PodSample, ground: FilesGround): Promise<PodFiles> {
  const { layout, now, rootFs, volumes } = ground;
  const files = await Promise.all(
    pod.containers.map(async ({ id, name }) => {
      const logs = await filesIn(layout.containerLogDir(pod, name));
      const own = { rootfs: rootfsOf(ground.layers.get(id), ground), logs: logs && fsStats(now, rootFs, logs) };
      return [id, own] as const;
    }),
  );
  const containers = new Map(files);
  const counted = volumes(pod.uid);
  const rest = await Promise.all([filesIn(layout.podLogDir(pod)), fileAt(layout.hostsFile(pod.uid))]);
  const parts = [...containers.values()].flatMap(({ rootfs, logs }) => [rootfs, logs]);
  const others = rest.map((taken) => taken && fsStats(now, rootFs, taken));
  return {
    containers,
    volumes: counted.all,
    ephemeralStorage: sumOn(fsStats(now, rootFs), [...parts, ...counted.local, ...others]),
  };
}

function rootfsOf(layer: LayerUsage | undefined, { layerFs }: FilesGround): FsStats | undefined {
  if (layer === undefined) return undefined;
  const { readAt, mountpoint, usedBytes, inodesUsed } = layer;
  return { ...fsStats(readAt, layerFs.get(mountpoint)), usedBytes, inodesUsed };
}

/** How full a file system is, with what somebody takes of it. */
export const fsStats = (at: number, fs: FileSystemUsage | undefined, taken?: Taken): FsStats => ({
  time: timeOf(at),
  availableBytes: fs?.availableBytes,
  capacityBytes: fs?.capacityBytes,
  usedBytes: taken?.bytes,
  inodesFree: fs?.inodesFree,
  inodes: fs?.inodes,
  inodesUsed: taken?.inodes,
});

function sumOn(start: FsStats, parts: readonly (FsStats | undefined)[]): FsStats {
  const told = parts.filter((each) => each !== undefined);
  const sum = (values: readonly (number | undefined)[]) => {
    const known = values.filter((each) => each !== undefined);
    return known.length > 0 ? known.reduce((all, each) => all + each, 0) : undefined;
  };
  return {
    ...start,
    time: timeOf(Math.max(start.time.ms, ...told.map(({ time }) => time.ms))),
    usedBytes: sum(told.map(({ usedBytes }) => usedBytes)),
    inodesUsed: sum(told.map(({ inodesUsed }) => inodesUsed)),
  };
}

/** The files right in a directory, not what is in those below it; undefined where there is none. */
export async function filesIn(directory: string): Promise<Taken | undefined> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return undefined;
  const files = entries.filter((entry) => !entry.isDirectory());
  const taken = await Promise.all(files.map(({ name }) => fileAt(join(directory, name))));
  return taken.reduce<Taken>(
    (sum, each) => ({
      bytes: sum.bytes + (each?.bytes ?? 0),
      inodes: sum.inodes + (each?.inodes ?? 0),
    }),
    NOTHING,
  );
}

const NOTHING: Taken = { bytes: 0, inodes: 0 };

/** A link is what it takes itself. */
async function fileAt(path: string): Promise<Taken | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found && { bytes: takenBy(found), inodes: 1 };
}
