import { lstat, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { findProcess } from '../../host/runningProcess.ts';
import { isListening, socketPath } from '../../socket/socketPath.ts';
import { makeDirectory } from '../host/rootDirectory.ts';

/** With its pid this names a process for good; `0` where the host does not tell, or it has ended. */
const startOf = async (pid: number): Promise<string> => (await findProcess(pid))?.startedAt ?? '0';

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** `<pid>-<start>`; whatever else lies there is none, and nobody's to remove. */
const isLockName = (name: string): boolean => /^[1-9]\d*-\d+$/.test(name);

async function isAlive(lock: string): Promise<boolean> {
  const [pid, start] = lock.split('-');
  return exists(Number(pid)) && (await startOf(Number(pid))) === start;
}

function refusal(rootDirectory: string, who: string): NodeFailure {
  const message = `another agent ${who} is already running on ${rootDirectory}: stop it first, or use another root directory`;
  return new NodeFailure('AgentRunning', message);
}

/** The live locks other than our own; those of processes that are gone are removed, for they can never come back. */
async function otherLocks(directory: string, own: string): Promise<string[]> {
  const live: string[] = [];
  for (const lock of (await readdir(directory)).filter(isLockName)) {
    if (lock === own) continue;
    if (await isAlive(lock)) live.push(lock);
    else await removeLock(join(directory, lock));
  }
  return live;
}

/** A lock is an empty file: one with content is none, whatever its name. */
async function removeLock(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() && found.size === 0) await rm(file, { force: true });
}

/** The process of the agent that runs over a root directory; undefined where none does that can be seen from here. */
export async function runningAgent(rootDirectory: string): Promise<number | undefined> {
  const locks = await readdir(join(rootDirectory, 'agents')).catch(() => []);
  for (const lock of locks.filter(isLockName)) if (await isAlive(lock)) return Number(lock.split('-')[0]);
  return undefined;
}

/**
 * Makes sure that this process is the only agent over a root directory, and throws a `NodeFailure` when it is not.
 * Each agent first writes its lock and then reads those of others, so of two at once at most one goes on; the socket
 * tells of an agent whose process cannot be seen from here. Returns the function that gives the lock back.
 */
export async function lockRootDirectory(rootDirectory: string): Promise<() => Promise<void>> {
  const directory = join(rootDirectory, 'agents');
  await makeDirectory(directory);
  const own = `${process.pid}-${await startOf(process.pid)}`;
  const release = () => rm(join(directory, own), { force: true });
  await writeFile(join(directory, own), '').catch((cause) => {
    throw new NodeFailure('RootDirectoryUnusable', `${rootDirectory} cannot be used: ${messageOf(cause)}`, { cause });
  });
  const [other] = await otherLocks(directory, own);
  const answering = other === undefined && (await isListening(socketPath(rootDirectory)));
  if (other === undefined && !answering) return release;
  await release();
  throw refusal(rootDirectory, other === undefined ? 'that answers on its socket' : `(process ${other.split('-')[0]})`);
}
