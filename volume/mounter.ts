/** Mounts and unmounts by the host's own binaries, which know the helpers of each file system. */

import { messageOf } from '../host/files/fileErrors.ts';
import { mountAt } from '../host/files/mountinfo.ts';
import { PASSED_FD, ProgramFailure, runProgram } from '../host/program.ts';
import { NodeFailure } from '../pod/failure.ts';

interface MountRequest {
  readonly source: string;
  /** An absolute path of an existing directory. */
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
  readonly signal: AbortSignal;
}

const MOUNT_LIMIT_MS = 30_000;

/** Mounts a file system; fails with `FailedMount` and what the binary said. */
export async function mount({ source, target, type, options, signal }: MountRequest): Promise<void> {
  const withOptions = options.length === 0 ? [] : ['-o', options.join(',')];
  try {
    await run('mount', ['-t', type, ...withOptions, '--', source, target], signal);
  } catch (error) {
    throw new NodeFailure('FailedMount', `mounting ${type} at ${target}: ${messageOf(error)}`, { cause: error });
  }
}

/** Unmounts what is mounted at a path; fails with `FailedUnmount`. Unmounting what is not mounted succeeds. */
export async function unmount(target: string, signal: AbortSignal): Promise<void> {
  try {
    await run('umount', ['--', target], signal);
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
    await run('mount', ['--no-canonicalize', '--bind', '--', `/proc/self/fd/${PASSED_FD}`, target], signal, fd);
  } catch (error) {
    throw new NodeFailure('FailedMount', `mounting at ${target}: ${messageOf(error)}`, { cause: error });
  }
}

/** Runs a binary of the host to its end. `passedFd` is handed on to it. */
async function run(binary: string, args: readonly string[], signal: AbortSignal, passedFd?: number): Promise<void> {
  const passed = passedFd === undefined ? {} : { passedFd };
  await runProgram(binary, args, { signal, limitMs: MOUNT_LIMIT_MS, ...passed }).catch((error: unknown) => {
    if (!(error instanceof ProgramFailure)) throw error;
    const late = `no answer from ${binary} within ${MOUNT_LIMIT_MS / 1000} s`;
    throw new Error(error.isLate ? late : error.message, { cause: error });
  });
}
