/** Kills what is left in a cgroup: processes that the runtime does not know, or does not end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { NodeFailure } from '../../pod/failure.ts';
import { type CgroupWork, relativePath } from './remove.ts';

const TRIES = 40;
const WAIT_MS = 25;
/** As many as a message can name. */
const MOST_NAMED = 5;

/**
 * Kills every process in a cgroup and in all below it, and waits for their end; a cgroup that is not there has none.
 * Fails with `FailedKillPod` when some live on after a second, as one that waits for a device does.
 */
export async function killCgroup({ hierarchies, path: cgroup, signal, wait }: CgroupWork): Promise<void> {
  const relative = relativePath(cgroup);
  const roots = hierarchies.map(({ root }) => path.join(root, relative));
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const left = (await Promise.all(roots.map(killBelow))).flat();
    if (left.length === 0) return;
    if (tries === TRIES) throw new NodeFailure('FailedKillPod', stillThere(cgroup, [...new Set(left)]));
    await wait(WAIT_MS, signal);
  }
}

/** Gives the processes that there were in it. */
async function killBelow(directory: string): Promise<number[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return [];
  const own = killIn(directory);
  const children = entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(directory, name));
  return [own, ...(await Promise.all(children.map(killBelow)))].flat();
}

/** Read and killed on the spot: in between no other process could come by one of these numbers. */
function killIn(directory: string): number[] {
  const processes = processesIn(directory);
  for (const pid of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, or cannot be killed: then it shows in the next look.
    }
  }
  // On v1 what is frozen dies only when it is thawed.
  if (processes.length > 0) write(path.join(directory, 'freezer.state'), 'THAWED');
  return processes;
}

function processesIn(directory: string): number[] {
  try {
    const lines = readFileSync(path.join(directory, 'cgroup.procs'), 'utf8').split('\n');
    // A process that this one cannot see shows as 0, which as a target would mean this process and all its group.
    return lines.map(Number).filter((pid) => pid > 1 && pid !== process.pid);
  } catch {
    return [];
  }
}

function write(file: string, text: string): void {
  try {
    // Never made where it is not there.
    writeFileSync(file, text, { flag: 'r+' });
  } catch {
    // Another controller's hierarchy, v2, or a cgroup that is gone.
  }
}

function stillThere(cgroup: string, processes: readonly number[]): string {
  const named = processes.slice(0, MOST_NAMED).map((pid) => `${pid} (${nameOf(pid)})`);
  const more = processes.length > MOST_NAMED ? ` and ${processes.length - MOST_NAMED} more` : '';
  return `processes in the cgroup ${cgroup} survive SIGKILL: ${named.join(', ')}${more}`;
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'just exited';
  }
}
