/** hostPath: a file or directory of the node itself, checked or made as its type says. */

import type { Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { isMissing, messageOf } from '../host/files/fileErrors.ts';
import type { HostPathVolumeSource } from '../pod/api/schema/volume.ts';
import { NodeFailure } from '../pod/failure.ts';
import type { VolumePlugin } from './plugin.ts';

type HostPathType = NonNullable<HostPathVolumeSource['type']>;

interface TypeRule {
  readonly is: (found: Stats) => boolean;
  readonly noun: string;
  readonly make?: (target: string) => Promise<void>;
}

const directory = { is: (found: Stats) => found.isDirectory(), noun: 'directory' };
const file = { is: (found: Stats) => found.isFile(), noun: 'file' };

const RULES: Readonly<Record<Exclude<HostPathType, ''>, TypeRule>> = {
  Directory: directory,
  DirectoryOrCreate: { ...directory, make: makeDirectory },
  File: file,
  FileOrCreate: { ...file, make: makeFile },
  Socket: { is: (found) => found.isSocket(), noun: 'socket file' },
  CharDevice: { is: (found) => found.isCharacterDevice(), noun: 'character device' },
  BlockDevice: { is: (found) => found.isBlockDevice(), noun: 'block device' },
};

/** The plugin for `hostPath`: nothing is mounted, so nothing is unmounted, and what it made stays on the node. */
export const hostPathPlugin: VolumePlugin = {
  name: 'kubernetes.io/host-path',
  supports: (volume) => volume.hostPath !== undefined,
  mount: async ({ volume, signal }) => {
    if (volume.hostPath === undefined) throw new TypeError(`volume ${volume.name} has no hostPath`);
    signal.throwIfAborted();
    await ensureType(volume.hostPath);
    return { hostPath: volume.hostPath.path };
  },
  unmount: async () => {},
};

async function ensureType({ path: target, type = '' }: HostPathVolumeSource): Promise<void> {
  refuseUnsafe(target);
  if (type === '') return;
  const rule = RULES[type];
  const found = await statOf(target);
  if (found === undefined && rule.make !== undefined) return rule.make(target);
  if (found === undefined || !rule.is(found)) {
    throw new NodeFailure('FailedMount', `hostPath type check failed: ${target} is not a ${rule.noun}`);
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

async function statOf(target: string): Promise<Stats | undefined> {
  try {
    return await stat(target);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw failed(target, error);
  }
}

async function makeDirectory(target: string): Promise<void> {
  try {
    await mkdir(target, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw failed(target, error);
  }
}

/** Its directory is not made: a file that must exist says nothing about the rights of what lies around it. */
async function makeFile(target: string): Promise<void> {
  try {
    await (await open(target, 'a', 0o644)).close();
  } catch (error) {
    throw failed(target, error);
  }
}

function failed(target: string, cause: unknown): NodeFailure {
  return new NodeFailure('FailedMount', `hostPath ${target}: ${messageOf(cause)}`, { cause });
}
