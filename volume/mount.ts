/** Mounts and unmounts by the host's own binaries, which know the helpers of each file system. */

import { messageOf, NodeFailure } from '../base/failure.ts';
import { mountAt } from '../host/files/mountinfo.ts';
import { PASSED_FD } from '../host/program.ts';
import { runOnVolume } from './program.ts';

/** A file system to be mounted. */
export interface MountRequest {
  readonly source: string;
  /** An absolute path of an existing directory. */
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
  readonly signal: AbortSignal;
}

/** Mounts a file system; fails with `FailedMount` and what the binary said. */
export async function mount({ source, target, type, options, signal }: MountRequest): Promise<void> {
  const withOptions = options.length === 0 ? [] : ['-o', options.join(',')];
  try {
    await runOnVolume('mount', ['-t', type, ...withOptions, '--', source, target], { at: [target], signal });
  } catch (error) {
    throw new NodeFailure('FailedMount', `mounting ${type} at ${target}: ${messageOf(error)}`, { cause: error });
  }
}

/** Unmounts what is mounted at a path; fails with `FailedUnmount`. Unmounting what is not mounted succeeds. */
export async function unmount(target: string, signal: AbortSignal): Promise<void> {
  try {
    // Canonicalizing would look at what is mounted there, which may not answer; the kernel itself does not.
    await runOnVolume('umount', ['--no-canonicalize', '--', target], { at: [target], signal });
  } catch (error) {
    signal.throwIfAborted();
    if ((await mountAt(target, signal)) === undefined) return;
    throw new NodeFailure('FailedUnmount', `unmounting ${target}: ${messageOf(error)}`, { cause: error });
  }
}

/** Mounts what a handle of this process holds at a path: whatever became of the names that led to it. */
export async function bindHandle(fd: number, target: string, signal: AbortSignal): Promise<void> {
  try {
    // Without canonicalizing: the handle's present name may be another's by the time it is looked up.
    const args = ['--no-canonicalize', '--bind', '--', `/proc/self/fd/${PASSED_FD}`, target];
    await runOnVolume('mount', args, { at: [target], signal, passedFd: fd });
  } catch (error) {
    throw new NodeFailure('FailedMount', `mounting at ${target}: ${messageOf(error)}`, { cause: error });
  }
}
