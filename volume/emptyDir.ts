/** emptyDir: a pod's scratch directory, on the node's disk or in memory. */
import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { NodeFailure } from '../pod/failure.ts';
import { parseQuantity, wholeValue } from '../pod/quantity.ts';
import { podLimit } from '../pod/resources.ts';
import type { PodSpec } from '../pod/schema/pod.ts';
import type { EmptyDirVolumeSource } from '../pod/schema/volume.ts';
import { isMissing } from './fileErrors.ts';
import { mount, unmount } from './mounter.ts';
import { mountAt } from './mountinfo.ts';
import type { VolumeMount, VolumePlugin, VolumeUnmount } from './plugin.ts';
import { removeTree } from './removeTree.ts';

const NAME = 'kubernetes.io/empty-dir';
const ALL_RIGHTS = 0o777;
const SETGID = 0o2000;
const RIGHTS = 0o7777;

/** The plugin for `emptyDir`: mounting makes it, or finds it with its content; unmounting deletes it. */
export const emptyDirPlugin: VolumePlugin = {
  name: NAME,
  supports: (volume) => volume.emptyDir !== undefined,
  mount: mountEmptyDir,
  unmount: unmountEmptyDir,
};

async function mountEmptyDir({ pod, volume, layout, signal }: VolumeMount): Promise<{ hostPath: string }> {
  const source = volume.emptyDir;
  if (source === undefined) throw new TypeError(`volume ${volume.name} has no emptyDir`);
  const hostPath = layout.volumeDir(pod.metadata.uid, NAME, volume.name);
  signal.throwIfAborted();
  const made = await mkdir(hostPath, { recursive: true, mode: 0o750 });
  await ensureMedium({ hostPath, isNew: made !== undefined, source, spec: pod.spec, signal });
  await ensureRights(hostPath, pod.spec.securityContext?.fsGroup);
  return { hostPath };
}

interface Medium {
  readonly hostPath: string;
  /** It was made just now: nothing can be mounted there. */
  readonly isNew: boolean;
  readonly source: EmptyDirVolumeSource;
  readonly spec: PodSpec;
  readonly signal: AbortSignal;
}

async function ensureMedium({ hostPath, isNew, source, spec, signal }: Medium): Promise<void> {
  const medium = source.medium ?? '';
  if (medium !== '' && medium !== 'Memory') {
    throw new NodeFailure('FailedMount', `this node has no emptyDir medium "${medium}"`, { retryable: false });
  }
  const mounted = isNew ? undefined : await mountAt(hostPath, signal);
  const wanted = medium === 'Memory' ? 'tmpfs' : undefined;
  if (mounted?.type === wanted) return;
  if (mounted !== undefined) {
    throw new NodeFailure('FailedMount', `${hostPath} is a mount point of type ${mounted.type} already`);
  }
  await mount({ source: 'tmpfs', target: hostPath, type: 'tmpfs', options: tmpfsOptions(source, spec), signal });
}

/** Whether the directory is on another device than its parent, as one in memory is: quicker to see than the mounts. */
async function isOnOwnDevice(hostPath: string): Promise<boolean> {
  const [own, parent] = await Promise.all([deviceOf(hostPath), deviceOf(path.dirname(hostPath))]);
  return own !== undefined && own !== parent;
}

/** The device that a directory is on; undefined when it is not there. */
async function deviceOf(directory: string): Promise<number | undefined> {
  try {
    return (await stat(directory)).dev;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** As large as the volume's limit says, but no larger than the memory that the pod may use. */
function tmpfsOptions({ sizeLimit }: EmptyDirVolumeSource, spec: PodSpec): readonly string[] {
  if (sizeLimit !== undefined && parseQuantity(sizeLimit) === undefined) {
    throw new NodeFailure('FailedMount', `emptyDir sizeLimit ${sizeLimit} is not a quantity`, { retryable: false });
  }
  const own = sizeLimit === undefined ? 0 : wholeValue(sizeLimit);
  const limits = [own, podLimit(spec, 'memory') ?? 0].filter((bytes) => bytes > 0);
  return limits.length === 0 ? [] : [`size=${Math.min(...limits)}`];
}

/** Every user may write; with an fsGroup the group owns it, and new files inherit the group. */
async function ensureRights(hostPath: string, fsGroup: number | undefined): Promise<void> {
  const found = await stat(hostPath);
  const rights = fsGroup === undefined ? ALL_RIGHTS : ALL_RIGHTS | SETGID;
  if (fsGroup !== undefined && found.gid !== fsGroup) await chown(hostPath, found.uid, fsGroup);
  if ((found.mode & RIGHTS) !== rights) await chmod(hostPath, rights);
}

async function unmountEmptyDir({ podUid, volumeName, layout, signal }: VolumeUnmount): Promise<void> {
  const hostPath = layout.volumeDir(podUid, NAME, volumeName);
  while (await isOnOwnDevice(hostPath)) {
    if ((await mountAt(hostPath, signal))?.type !== 'tmpfs') break;
    await unmount(hostPath, signal);
  }
  await removeTree(hostPath, signal);
}
