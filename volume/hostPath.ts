/** hostPath: a file or directory of the node itself, checked or made as its type says. */

import { constants } from 'node:fs';
import path from 'node:path';
import { messageOf, NodeFailure } from '../base/failure.ts';
import type { HostPathVolumeSource } from '../kubernetes/api/schema/volume.ts';
import type { MountedPath } from '../kubernetes/mountedVolume.ts';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin } from './plugin.ts';

type HostPathType = NonNullable<HostPathVolumeSource['type']>;

interface TypeRule {
  /** The kind of file, as the kernel numbers it. */
  readonly kind: number;
  readonly noun: string;
  /** It is made where there is nothing. */
  readonly make?: 'directory' | 'file';
}

const directory = { kind: constants.S_IFDIR, noun: 'directory' };
const file = { kind: constants.S_IFREG, noun: 'file' };

const RULES: Readonly<Record<Exclude<HostPathType, ''>, TypeRule>> = {
  Directory: directory,
  DirectoryOrCreate: { ...directory, make: 'directory' },
  File: file,
  // Its directory is not made: a file that must exist says nothing about the rights of what lies around it.
  FileOrCreate: { ...file, make: 'file' },
  Socket: { kind: constants.S_IFSOCK, noun: 'socket file' },
  CharDevice: { kind: constants.S_IFCHR, noun: 'character device' },
  BlockDevice: { kind: constants.S_IFBLK, noun: 'block device' },
};

/** The plugin for `hostPath`: nothing is mounted, so nothing is unmounted, and what it made stays on the node. */
export const hostPathPlugin: VolumePlugin<MountedPath> = {
  name: 'kubernetes.io/host-path',
  supports: (volume) => volume.hostPath !== undefined,
  mount: async ({ volume, mounter, signal }) => {
    if (volume.hostPath === undefined) throw new TypeError(`volume ${volume.name} has no hostPath`);
    signal.throwIfAborted();
    await ensureType(volume.hostPath, mounter, signal);
    return { kind: 'path', hostPath: volume.hostPath.path };
  },
  unmount: async () => {},
};

async function ensureType(
  { path: target, type = '' }: HostPathVolumeSource,
  mounter: Mounter,
  signal: AbortSignal,
): Promise<void> {
  refuseUnsafe(target);
  if (type === '') return;
  const { kind, noun, make } = RULES[type];
  const found = await told(mounter.kindOf(target, signal), target, signal);
  if (found === undefined && make !== undefined) {
    await told(mounter.make(make, target, signal), target, signal);
  } else if (found !== kind) {
    throw new NodeFailure('FailedMount', `hostPath type check failed: ${target} is not a ${noun}`);
  }
}

function refuseUnsafe(target: string): void {
  const problem = !path.isAbsolute(target)
    ? 'must be an absolute path'
    : target.split('/').includes('..')
      ? "must not contain '..'"
      : undefined;
  if (problem === undefined) return;
  throw new NodeFailure('FailedMount', `invalid HostPath ${JSON.stringify(target)}: ${problem}`);
}

/** A call that fails is a failure of the volume. */
async function told<T>(answer: Promise<T>, target: string, signal: AbortSignal): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    signal.throwIfAborted();
    throw new NodeFailure('FailedMount', `hostPath ${target}: ${messageOf(error)}`, { cause: error });
  }
}
