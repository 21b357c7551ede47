import { mkdir, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import type { VolumeMount } from '../pod/schema/container.ts';
import type { ContainerConfigInput } from './containerConfig.ts';
import { environmentOf } from './environment.ts';
import { refusal, subPathOf, volumePath } from './mounts.ts';

/**
 * Makes the directories within volumes that a container's mounts ask for, and refuses those that a symlink leads out of
 * the volume (C26). To be called before the container is made: the runtime follows the paths as they are then.
 */
export async function prepareSubPaths(input: ContainerConfigInput, signal: AbortSignal): Promise<void> {
  const { pod, container, volumes, sandboxIps, node } = input;
  const mounts = (container.volumeMounts ?? []).filter(({ subPath, subPathExpr }) => subPath || subPathExpr);
  if (mounts.length === 0) return;
  const environment = environmentOf(pod, container, sandboxIps, node);
  for (const mount of mounts) {
    signal.throwIfAborted();
    await prepare(mount, await rootOf(mount, volumePath(mount, volumes)), subPathOf(mount, environment));
  }
}

/** Goes down one name at a time, so that nothing is made behind a symlink before it was looked at. */
async function prepare(mount: VolumeMount, volume: string, subPath: string): Promise<void> {
  let reached = volume;
  for (const name of subPath.split('/')) {
    reached = await enter(mount, posix.join(reached, name));
    if (posix.relative(volume, reached).split('/')[0] === '..') {
      throw refusal(mount, `subPath ${subPath} leads outside of the volume`);
    }
  }
}

async function rootOf(mount: VolumeMount, path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    throw refusal(mount, `the volume ${mount.name} is not at ${path}`, cause);
  }
}

/** The real path of a directory or file, which is made a directory when there is nothing. */
async function enter(mount: VolumeMount, path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // Nothing there, or a symlink to nothing: only the first can be made.
  }
  try {
    await mkdir(path, { mode: 0o750 });
    return await realpath(path);
  } catch (cause) {
    throw refusal(mount, `the directory ${path} cannot be made`, cause);
  }
}
