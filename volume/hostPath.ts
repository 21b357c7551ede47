/** hostPath: a file or directory of the node itself, checked or made as its type says. */

import { constants } from 'node:fs';
import path from 'node:path';
import type { HostPathVolumeSource } from '../pod/api/schema/volume.ts';
import { messageOf, NodeFailure } from '../pod/failure.ts';
import type { MountedPath } from '../pod/mountedVolume.ts';
import type { VolumePlugin } from './plugin.ts';
import { runOnVolume } from './program.ts';

type HostPathType = NonNullable<HostPathVolumeSource['type']>;

interface TypeRule {
  /** The kind of file, as the kernel numbers it. */
  readonly kind: number;
  readonly noun: string;
  /** The program that makes one, with its options. */
  readonly make?: readonly [string, ...string[]];
}

const directory = { kind: constants.S_IFDIR, noun: 'directory' };
const file = { kind: constants.S_IFREG, noun: 'file' };

const RULES: Readonly<Record<Exclude<HostPathType, ''>, TypeRule>> = {
  Directory: directory,
  DirectoryOrCreate: { ...directory, make: ['mkdir', '-p', '-m', '755'] },
  File: file,
  // Its directory is not made: a file that must exist says nothing about the rights of what lies around it.
  FileOrCreate: { ...file, make: ['touch'] },
  Socket: { kind: constants.S_IFSOCK, noun: 'socket file' },
  CharDevice: { kind: constants.S_IFCHR, noun: 'character device' },
  BlockDevice: { kind: constants.S_IFBLK, noun: 'block device' },
};

/** The plugin for `hostPath`: nothing is mounted, so nothing is unmounted, and what it made stays on the node. */
export const hostPathPlugin: VolumePlugin<MountedPath> = {
  name: 'kubernetes.io/host-path',
  supports: (volume) => volume.hostPath !== undefined,
  mount: async ({ volume, signal }) => {
    if (volume.hostPath === undefined) throw new TypeError(`volume ${volume.name} has no hostPath`);
    signal.throwIfAborted();
    await ensureType(volume.hostPath, signal);
    return { kind: 'path', hostPath: volume.hostPath.path };
  },
  unmount: async () => {},
};

async function ensureType({ path: target, type = '' }: HostPathVolumeSource, signal: AbortSignal): Promise<void> {
  refuseUnsafe(target);
  if (type === '') return;
  const { kind, noun, make } = RULES[type];
  const found = await kindOf(target, signal);
  if (found === undefined && make !== undefined) {
    const [program, ...options] = make;
    await run(program, [...options, '--', target], { target, signal });
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

/** What a path leads to; undefined when there is nothing. */
async function kindOf(target: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const mode = await run('stat', ['-L', '-c', '%f', '--', target], { target, signal });
    return Number.parseInt(mode, 16) & constants.S_IFMT;
  } catch (error) {
    if (/: (No such file or directory|Not a directory)$/.test(messageOf(error))) return undefined;
    throw error;
  }
}

interface HostPathCall {
  readonly target: string;
  readonly signal: AbortSignal;
}

async function run(program: string, args: readonly string[], { target, signal }: HostPathCall): Promise<string> {
  try {
    return await runOnVolume(program, args, { at: [target], signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new NodeFailure('FailedMount', `hostPath ${target}: ${messageOf(error)}`, { cause: error });
  }
}
