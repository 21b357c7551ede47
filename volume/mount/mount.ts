/**
 * Mounts and unmounts file systems with the programs `mount` and `umount`, because they support the mount helpers of
 * all file systems.
 */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import { findMountAt } from '../../host/files/mountinfo.ts';
import { PASSED_FD } from '../../host/program.ts';
import { runOnVolume } from '../runOnVolume.ts';

export interface MountRequest {
  readonly source: string;
  /** Absolute path of an existing directory. */
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
  readonly signal: AbortSignal;
}

/** Mounts a file system. Fails with `FailedMount` and the program's message. */
export async function mount({ source, target, type, options, signal }: MountRequest): Promise<void> {
  const optionArgs = options.length === 0 ? [] : ['-o', options.join(',')];
  try {
    await runOnVolume('mount', ['-t', type, ...optionArgs, '--', source, target], { paths: [target], signal });
  } catch (error) {
    throw new NodeFailure('FailedMount', `mounting ${type} at ${target}: ${messageOf(error)}`, { cause: error });
  }
}

/** Unmounts a path. Fails with `FailedUnmount`. Succeeds if nothing is mounted there. */
export async function unmount(target: string, signal: AbortSignal): Promise<void> {
  try {
    // Do not canonicalize the path, because that would access the mounted file system, which may hang.
    await runOnVolume('umount', ['--no-canonicalize', '--', target], { paths: [target], signal });
  } catch (error) {
    signal.throwIfAborted();
    if ((await findMountAt(target, signal)) === undefined) return;
    throw new NodeFailure('FailedUnmount', `unmounting ${target}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Bind-mounts the open file or directory to which the file descriptor refers, even if its path has changed since it was
 * opened.
 */
export async function bindHandle(fd: number, target: string, signal: AbortSignal): Promise<void> {
  try {
    // Do not canonicalize the path of the file descriptor, because a different file may be at the canonical path by
    // now.
    const args = ['--no-canonicalize', '--bind', '--', `/proc/self/fd/${PASSED_FD}`, target];
    await runOnVolume('mount', args, { paths: [target], signal, passedFd: fd });
  } catch (error) {
    throw new NodeFailure('FailedMount', `mounting at ${target}: ${messageOf(error)}`, { cause: error });
  }
}
