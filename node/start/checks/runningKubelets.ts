/** Detects a kubelet that uses a root directory. The agent must not touch the pods of that kubelet. */
import { readlink, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { defaultIfUnreadable, isOutOfDescriptors } from '../../../host/files/fileErrors.ts';
import { isSamePath } from '../../../host/files/withoutLinks.ts';
import { mapProcesses, readCommandLine } from '../../../host/runningProcess.ts';
import { isListening, socketPath } from '../../../socket/socketPath.ts';
import { kubeletDirectory } from '../../host/paths.ts';
import { runningAgentPid } from './lock.ts';

/**
 * Sockets that both a kubelet and a statelet agent serve below the root directory, even if the kubelet is embedded in
 * another program.
 */
const SERVED_SOCKETS = ['pod-resources/kubelet.sock', 'device-plugins/kubelet.sock'];

/** Returns one sentence for each indication that a kubelet uses a root directory. */
export async function describeRunningKubelets(rootDirectory: string, proc = '/proc'): Promise<string[]> {
  // Do not check the sockets if a statelet agent is running, because they then belong to that agent.
  const socketNames = (await isRunByOtherAgent(rootDirectory)) ? [] : SERVED_SOCKETS;
  const [sockets, processes] = await Promise.all([
    Promise.all(socketNames.map((name) => describeListener(join(rootDirectory, name)))),
    describeKubeletProcesses(rootDirectory, proc),
  ]);
  return [...processes, ...sockets.flat()];
}

/** Throws a `NodeFailure` if a kubelet uses a root directory. */
export async function assertNoKubelet(rootDirectory: string): Promise<void> {
  const [kubelet] = await describeRunningKubelets(rootDirectory);
  if (kubelet === undefined) return;
  throw new NodeFailure('RootInUse', `${kubelet}: stop the kubelet first, or use another root directory`);
}

/**
 * Whether another statelet agent uses a root directory. Unlike `lockRootDirectory`, this function does not lock the
 * directory.
 */
async function isRunByOtherAgent(rootDirectory: string): Promise<boolean> {
  const pid = await runningAgentPid(rootDirectory);
  if (pid !== undefined && pid !== process.pid) return true;
  return isListening(socketPath(rootDirectory)).catch(() => false);
}

async function describeListener(path: string): Promise<string[]> {
  try {
    return (await isListening(path)) ? [`something listens on ${path}, as a kubelet does`] : [];
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return [`cannot tell whether a kubelet listens on ${path}: ${messageOf(error)}`];
  }
}

const describeKubeletProcesses = (rootDirectory: string, proc: string): Promise<string[]> =>
  mapProcesses(
    async (pid) =>
      (await isKubeletOnDirectory(rootDirectory, { pid, proc }))
        ? `a kubelet (process ${pid}) is running on ${rootDirectory}`
        : undefined,
    proc,
  );

async function isKubeletOnDirectory(
  rootDirectory: string,
  { pid, proc }: { pid: number; proc: string },
): Promise<boolean> {
  const processDirectory = join(proc, String(pid));
  const root = kubeletRootDirectory(await readCommandLine(pid, proc));
  if (root === undefined) return false;
  // Compare devices and inodes, because the same path may refer to a different directory in a kubelet's container.
  const [theirs, ours] = await Promise.all([
    deviceAndInode(join(processDirectory, isAbsolute(root) ? 'root' : 'cwd', root)),
    deviceAndInode(rootDirectory),
  ]);
  if (theirs !== undefined && ours !== undefined) return theirs === ours;
  if (await hasOtherMountNamespace(processDirectory)) return false;
  const from = await readlink(join(processDirectory, 'cwd')).catch(defaultIfUnreadable('/'));
  return isSamePath(resolve(from, root), rootDirectory);
}

/** Returns the device and inode of a directory, or undefined if it cannot be read. */
async function deviceAndInode(directory: string): Promise<string | undefined> {
  const stats = await stat(directory, { bigint: true }).catch(defaultIfUnreadable(undefined));
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Whether a process is in a different mount namespace, where equal paths may be different directories. */
async function hasOtherMountNamespace(process: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all(
    [process, '/proc/self'].map((each) => readlink(join(each, 'ns/mnt')).catch(defaultIfUnreadable(undefined))),
  );
  return theirs !== undefined && theirs !== ours;
}

/**
 * Returns the root directory of the kubelet with this command line, or undefined if the command line is not a
 * kubelet's.
 */
function kubeletRootDirectory([program = '', ...args]: readonly string[]): string | undefined {
  const isKubeletProgram =
    basename(program) === 'kubelet' || (basename(program) === 'hyperkube' && args[0] === 'kubelet');
  if (!isKubeletProgram) return undefined;
  const index = args.findLastIndex((arg) => /^--?root-dir(=|$)/.test(arg));
  const [, inlineValue] = /^--?root-dir=(.*)$/.exec(args[index] ?? '') ?? [];
  return inlineValue ?? (index < 0 ? kubeletDirectory : args[index + 1]);
}
