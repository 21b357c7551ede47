/** Mounts and unmounts by the host's own binaries, which know the helpers of each file system. */
import { type StdioOptions, spawn } from 'node:child_process';
import { NodeFailure } from '../pod/failure.ts';
import { messageOf } from './fileErrors.ts';
import { mountAt } from './mountinfo.ts';

interface MountRequest {
  readonly source: string;
  /** An absolute path of an existing directory. */
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
  readonly signal: AbortSignal;
}

const MOUNT_LIMIT_MS = 30_000;
/** Where a child process has the handle that it is given: the first after its standard streams. */
const PASSED_FD = 3;

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

/** Runs a binary to its end; it is killed when the signal aborts or the time limit is over. `passed` is handed on to it. */
function run(binary: string, args: readonly string[], signal: AbortSignal, passed?: number): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MOUNT_LIMIT_MS)]);
  const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`, LC_ALL: 'C' };
  return new Promise((resolve, reject) => {
    const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', ...(passed === undefined ? [] : [passed])];
    const child = spawn(binary, args, { signal: limit, killSignal: 'SIGKILL', detached: true, env, stdio });
    const said: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
    const fail = (problem: string) => {
      if (signal.aborted) reject(signal.reason);
      else if (limit.aborted) reject(new Error(`no answer from ${binary} within ${MOUNT_LIMIT_MS / 1000} s`));
      else reject(new Error(Buffer.concat(said).toString().trim() || problem));
    };
    child.on('error', (error) => fail(error.message));
    child.on('close', (code) => (code === 0 ? resolve() : fail(`${binary} failed with exit code ${code}`)));
  });
}
