import { lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { findProcess } from '../../../host/runningProcess.ts';
import { isListening, socketPath } from '../../../socket/socketPath.ts';
import { createDirectory } from '../../host/rootDirectory.ts';

/**
 * Returns the start time of a process, which identifies the process together with its PID. Returns `0` if the start
 * time is unknown or the process has exited.
 */
const processStartTime = async (pid: number): Promise<string> => (await findProcess(pid))?.startedAt ?? '0';

function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whether a file has the name of a lock, `<pid>-<start time>`. Other files in the directory remain untouched. */
const isLockFileName = (name: string): boolean => /^[1-9]\d*-\d+$/.test(name);

async function isLockHeld(lock: string): Promise<boolean> {
  const [pid, start] = lock.split('-');
  return isProcessRunning(Number(pid)) && (await processStartTime(Number(pid))) === start;
}

function agentRunningFailure(rootDirectory: string, agentText: string): NodeFailure {
  const message = `another agent ${agentText} is already running on ${rootDirectory}: stop it first, or use another root directory`;
  return new NodeFailure('AgentRunning', message);
}

/** Returns the locks of other live processes, and removes the locks of processes that have exited. */
async function findOtherLocks(directory: string, ownLock: string): Promise<string[]> {
  const liveLocks: string[] = [];
  for (const lock of (await readdir(directory)).filter(isLockFileName)) {
    if (lock === ownLock) continue;
    if (await isLockHeld(lock)) liveLocks.push(lock);
    else await removeLock(join(directory, lock));
  }
  return liveLocks;
}

/** Removes a lock. A directory or a file with contents is not a lock and remains untouched. */
async function removeLock(file: string): Promise<void> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.isFile() && stats.size === 0) await rm(file, { force: true });
}

/** Returns the PID of the agent that uses a root directory, or undefined if no visible process has locked it. */
export async function runningAgentPid(rootDirectory: string): Promise<number | undefined> {
  const lockNames = await readdir(join(rootDirectory, 'agents')).catch(() => []);
  for (const lock of lockNames.filter(isLockFileName)) if (await isLockHeld(lock)) return Number(lock.split('-')[0]);
  return undefined;
}

/**
 * Locks a root directory for this process. Throws a `NodeFailure` if another agent uses it. Each agent first writes its
 * own lock and then reads the locks of others, so at most one of two concurrent agents succeeds. An agent whose process
 * is not visible, e.g. in another PID namespace, is detected by its socket. Returns a function that removes the lock.
 */
export async function lockRootDirectory(rootDirectory: string): Promise<() => Promise<void>> {
  const directory = join(rootDirectory, 'agents');
  await createDirectory(directory);
  const ownLock = `${process.pid}-${await processStartTime(process.pid)}`;
  const release = () => rm(join(directory, ownLock), { force: true });
  await writeFile(join(directory, ownLock), '').catch((cause) => {
    throw new NodeFailure('RootDirectoryUnusable', `${rootDirectory} cannot be used: ${messageOf(cause)}`, { cause });
  });
  const [otherLock] = await findOtherLocks(directory, ownLock);
  const isSocketInUse = otherLock === undefined && (await isListening(socketPath(rootDirectory)));
  if (otherLock === undefined && !isSocketInUse) return release;
  await release();
  throw agentRunningFailure(
    rootDirectory,
    otherLock === undefined ? 'that answers on its socket' : `(process ${otherLock.split('-')[0]})`,
  );
}
