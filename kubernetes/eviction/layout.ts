/**
 * Rules that depend on how the node's file systems are laid out (`buildSignalToRankFunc` and
 * `buildSignalToNodeReclaimFuncs` in `pkg/kubelet/eviction/helpers.go`).
 */
import type { Signal } from './signals.ts';

/**
 * Location of images and writable layers. With `single`, both are on the file system of the root directory. With
 * `separateImages`, both are on a different file system. With `split`, only the images are on a different file system.
 */
export type DiskLayout = 'single' | 'separateImages' | 'split';

/** A part of a pod's disk usage: the writable layers of its containers, their logs, or its local volumes. */
export type DiskPart = 'rootfs' | 'logs' | 'volumes';

/** A way to free disk space without stopping any pod. */
export type ReclaimStep = 'deadContainers' | 'unusedImages';

type FileSystemName = 'nodefs' | 'imagefs' | 'containerfs';

const ALL_PARTS: readonly DiskPart[] = ['rootfs', 'logs', 'volumes'];
const ALL_STEPS: readonly ReclaimStep[] = ['deadContainers', 'unusedImages'];

const DISK_PARTS: Readonly<Record<DiskLayout, Readonly<Record<FileSystemName, readonly DiskPart[]>>>> = {
  single: { nodefs: ALL_PARTS, imagefs: ALL_PARTS, containerfs: ALL_PARTS },
  separateImages: { nodefs: ['logs', 'volumes'], imagefs: ['rootfs'], containerfs: ['rootfs'] },
  split: { nodefs: ALL_PARTS, imagefs: [], containerfs: ALL_PARTS },
};

const RECLAIM_STEPS: Readonly<Record<DiskLayout, Readonly<Record<FileSystemName, readonly ReclaimStep[]>>>> = {
  single: { nodefs: ALL_STEPS, imagefs: ALL_STEPS, containerfs: ALL_STEPS },
  separateImages: { nodefs: [], imagefs: ALL_STEPS, containerfs: ALL_STEPS },
  split: { nodefs: ['deadContainers'], imagefs: ['unusedImages'], containerfs: ['deadContainers'] },
};

function fileSystemOf(signal: Signal): FileSystemName | undefined {
  if (signal.startsWith('nodefs.')) return 'nodefs';
  if (signal.startsWith('imagefs.')) return 'imagefs';
  return signal.startsWith('containerfs.') ? 'containerfs' : undefined;
}

/** Returns the parts of a pod's disk usage that are relevant to a signal. Empty for signals of memory and processes. */
export function diskPartsOf(signal: Signal, layout: DiskLayout): readonly DiskPart[] {
  const fileSystem = fileSystemOf(signal);
  return fileSystem === undefined ? [] : DISK_PARTS[layout][fileSystem];
}

/** Returns the ways to relieve a signal before any pod is evicted, in order. */
export function reclaimStepsOf(signal: Signal, layout: DiskLayout): readonly ReclaimStep[] {
  const fileSystem = fileSystemOf(signal);
  return fileSystem === undefined ? [] : RECLAIM_STEPS[layout][fileSystem];
}
