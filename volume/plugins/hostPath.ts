/** The plugin for hostPath, a file or directory of the node that is checked or created according to its type. */

import { constants } from 'node:fs';
import path from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { HostPathVolumeSource } from '../../kubernetes/api/schema/volume.ts';
import type { MountedPath } from '../../kubernetes/mountedVolume.ts';
import type { Mounter } from '../mount/mounter.ts';
import type { VolumePlugin } from './plugin.ts';

type HostPathType = NonNullable<HostPathVolumeSource['type']>;

interface TypeRule {
  /** File type bits of the mode (S_IFMT). */
  readonly kind: number;
  readonly description: string;
  /** Kind of object to create if the path does not exist. */
  readonly create?: 'directory' | 'file';
}

const directoryRule = { kind: constants.S_IFDIR, description: 'directory' };
const fileRule = { kind: constants.S_IFREG, description: 'file' };

const TYPE_RULES: Readonly<Record<Exclude<HostPathType, ''>, TypeRule>> = {
  Directory: directoryRule,
  DirectoryOrCreate: { ...directoryRule, create: 'directory' },
  File: fileRule,
  // Does not create the parent directory, because the type does not specify the parent's permissions.
  FileOrCreate: { ...fileRule, create: 'file' },
  Socket: { kind: constants.S_IFSOCK, description: 'socket file' },
  CharDevice: { kind: constants.S_IFCHR, description: 'character device' },
  BlockDevice: { kind: constants.S_IFBLK, description: 'block device' },
};

/** Plugin for `hostPath`. Mounts nothing. Files and directories that it has created remain on the node. */
export const hostPathPlugin: VolumePlugin<MountedPath> = {
  name: 'kubernetes.io/host-path',
  supportsVolume: (volume) => volume.hostPath !== undefined,
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
  assertSafePath(target);
  if (type === '') return;
  const { kind, description, create } = TYPE_RULES[type];
  const actualFileType = await asMountFailure(mounter.fileTypeOf(target, signal), target, signal);
  if (actualFileType === undefined && create !== undefined) {
    await asMountFailure(mounter.create(create, target, signal), target, signal);
  } else if (actualFileType !== kind) {
    throw new NodeFailure('FailedMount', `hostPath type check failed: ${target} is not a ${description}`);
  }
}

function assertSafePath(target: string): void {
  const problem = !path.isAbsolute(target)
    ? 'must be an absolute path'
    : target.split('/').includes('..')
      ? "must not contain '..'"
      : undefined;
  if (problem === undefined) return;
  throw new NodeFailure('FailedMount', `invalid HostPath ${JSON.stringify(target)}: ${problem}`);
}

/** Returns the result of `call`. If the call fails, rejects with a `FailedMount` failure instead of the error. */
async function asMountFailure<T>(call: Promise<T>, target: string, signal: AbortSignal): Promise<T> {
  try {
    return await call;
  } catch (error) {
    signal.throwIfAborted();
    throw new NodeFailure('FailedMount', `hostPath ${target}: ${messageOf(error)}`, { cause: error });
  }
}
