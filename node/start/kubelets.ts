/** Looks for a kubelet at work over a root directory: its pods are not to be touched, whatever is below the root. */
import { readlink, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isOutOfDescriptors, orElse } from '../../host/files/fileErrors.ts';
import { isSamePath } from '../../host/files/withoutLinks.ts';
import { mapProcesses, readCommandLine } from '../../host/runningProcess.ts';
import { isListening, socketPath } from '../../socket/socketPath.ts';
import { kubeletDirectory } from '../host/places.ts';
import { runningAgent } from './lock.ts';

/** Sockets that a kubelet serves below its root directory for as long as it runs, also one within another program. */
const PLUGINS_SOCKET = 'device-plugins/kubelet.sock';
/** The same, but an agent of this kind serves it, too. */
const RESOURCES_SOCKET = 'pod-resources/kubelet.sock';

/** What says that a kubelet runs over a root directory, a sentence each; none when nothing does. */
export async function kubeletsOver(rootDirectory: string, proc = '/proc'): Promise<string[]> {
  const names = [...((await hasOtherAgent(rootDirectory)) ? [] : [RESOURCES_SOCKET]), PLUGINS_SOCKET];
  const [sockets, processes] = await Promise.all([
    Promise.all(names.map((name) => listener(join(rootDirectory, name)))),
    kubeletProcesses(rootDirectory, proc),
  ]);
  return [...processes, ...sockets.flat()];
}

/** Throws a `NodeFailure` when a kubelet runs over a root directory. */
export async function refuseKubeletsRoot(rootDirectory: string): Promise<void> {
  const [why] = await kubeletsOver(rootDirectory);
  if (why === undefined) return;
  throw new NodeFailure('RootInUse', `${why}: stop the kubelet first, or use another root directory`);
}

/** Whether another agent of this kind runs over it: that is for the lock of the directory to refuse. */
async function hasOtherAgent(rootDirectory: string): Promise<boolean> {
  const pid = await runningAgent(rootDirectory);
  if (pid !== undefined && pid !== process.pid) return true;
  return isListening(socketPath(rootDirectory)).catch(() => false);
}

async function listener(path: string): Promise<string[]> {
  try {
    return (await isListening(path)) ? [`something listens on ${path}, as a kubelet does`] : [];
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return [`cannot tell whether a kubelet listens on ${path}: ${messageOf(error)}`];
  }
}

const kubeletProcesses = (rootDirectory: string, proc: string): Promise<string[]> =>
  mapProcesses(
    async (pid) =>
      (await isKubeletOver(rootDirectory, { pid, proc }))
        ? `a kubelet (process ${pid}) is running on ${rootDirectory}`
        : undefined,
    proc,
  );

async function isKubeletOver(rootDirectory: string, { pid, proc }: { pid: number; proc: string }): Promise<boolean> {
  const process = join(proc, String(pid));
  const root = rootOfKubelet(await readCommandLine(pid, proc));
  if (root === undefined) return false;
  // A kubelet in a container has a directory of the same path that is another one.
  const [theirs, ours] = await Promise.all([
    identityOf(join(process, isAbsolute(root) ? 'root' : 'cwd', root)),
    identityOf(rootDirectory),
  ]);
  if (theirs !== undefined && ours !== undefined) return theirs === ours;
  if (await seesOtherMounts(process)) return false;
  const from = await readlink(join(process, 'cwd')).catch(orElse('/'));
  return isSamePath(resolve(from, root), rootDirectory);
}

/** What tells a directory from every other one, whatever path leads to it; undefined where it cannot be seen. */
async function identityOf(directory: string): Promise<string | undefined> {
  const found = await stat(directory, { bigint: true }).catch(orElse(undefined));
  return found && `${found.dev}:${found.ino}`;
}

/** Whether a process lives in another mount namespace, where a path that only one of the two has is nothing in common. */
async function seesOtherMounts(process: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all(
    [process, '/proc/self'].map((each) => readlink(join(each, 'ns/mnt')).catch(orElse(undefined))),
  );
  return theirs !== undefined && theirs !== ours;
}

/** The root directory of the kubelet with this command line; undefined when it is that of another program. */
function rootOfKubelet([program = '', ...args]: readonly string[]): string | undefined {
  const isKubelet = basename(program) === 'kubelet' || (basename(program) === 'hyperkube' && args[0] === 'kubelet');
  if (!isKubelet) return undefined;
  const at = args.findLastIndex((arg) => /^--?root-dir(=|$)/.test(arg));
  const [, inside] = /^--?root-dir=(.*)$/.exec(args[at] ?? '') ?? [];
  return inside ?? (at < 0 ? kubeletDirectory : args[at + 1]);
}
