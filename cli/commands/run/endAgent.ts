/** How `statelet down` ends the agent of a `statelet up`: as Ctrl-C would, and only once; or at once. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { createAlarm } from '../../../actors/alarm.ts';
import type { Clock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { runningAgentPid } from '../../../node/start/lock.ts';
import { agentClient } from '../../../socket/client.ts';
import { isListening, socketPath } from '../../../socket/socketPath.ts';
import { readPodList } from '../get/readPods.ts';
import { patience } from './drain.ts';

const LOOK_MS = 100;
/** What the private containerd may take to end after its pods. */
const RUNTIME_END_MS = 30_000;
/** How long one that is to end at once may take to give its terminal back. */
const AT_ONCE_MS = 2_000;
/** How long a process that was killed may take to be gone. */
const KILLED_MS = 10_000;
/** How long an agent is waited for that does not say what it runs. */
const SILENT_END_MS = 120_000;

const nodeShape = z.looseObject({ tags: z.array(z.string()) });

/** Whether the process is a `statelet up`: another agent's pods would go on without it. */
async function isUp(pid: number): Promise<boolean> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return words.find((word) => word === 'run' || word === 'up') === 'up';
}

/** Whether the node is on its way to its end already, and how long that may take; what does not answer is neither. */
async function asked(rootDirectory: string): Promise<{ isEnding: boolean; limitMs: number }> {
  const client = agentClient(socketPath(rootDirectory));
  try {
    const [node, pods] = await Promise.all([client.json('/node'), client.json('/api/v1/pods')]);
    const isEnding = nodeShape.parse(node).tags.includes('ending');
    return { isEnding, limitMs: patience(readPodList(pods)) + RUNTIME_END_MS };
  } catch {
    return { isEnding: false, limitMs: SILENT_END_MS };
  }
}

/**
 * Asks the agent that runs to end and waits until it has: its pods have their graces. One that is ending already is only
 * waited for, as a second signal would have it leave its pods behind. With `now` it ends at once, whatever it does, and
 * leaves its pods: it is killed where it does not. Says whether there was one.
 */
export async function endAgent(
  rootDirectory: string,
  { write, clock, now }: { write: (text: string) => unknown; clock: Clock; now: boolean },
): Promise<boolean> {
  const pid = await runningAgentPid(rootDirectory);
  if (pid === undefined) {
    if (!(await isListening(socketPath(rootDirectory)))) return false;
    const message = `an agent answers on ${socketPath(rootDirectory)}, but its process is not visible from here (another PID namespace?): stop it where it runs`;
    throw new NodeFailure('AgentRunning', message);
  }
  if (!(await isUp(pid))) {
    const message = `process ${pid} runs a node on ${rootDirectory} that was not started by "statelet up": stop it first`;
    throw new NodeFailure('AgentRunning', message);
  }
  const who = `"statelet up" (process ${pid})`;
  const { isEnding, limitMs } = now ? { isEnding: false, limitMs: AT_ONCE_MS + KILLED_MS } : await asked(rootDirectory);
  const within = `within ${Math.ceil(limitMs / 1_000)} s`;
  if (now) write(`stopping ${who} at once\n`);
  else if (isEnding) write(`${who} is already stopping: waiting for it to terminate its pods, ${within}\n`);
  else write(`asking ${who} to stop: its pods terminate gracefully, ${within}\n`);
  if (!isEnding) process.kill(pid, now ? 'SIGQUIT' : 'SIGTERM');
  const alarm = createAlarm(clock);
  const start = clock.now();
  const until = start + limitMs;
  const runs = async () => (await runningAgentPid(rootDirectory)) === pid;
  // One that was killed is gone as a process before the last of its threads has let go of the socket.
  const isThere = async () => (await runs()) || (now && (await isListening(socketPath(rootDirectory))));
  while (await isThere()) {
    if (clock.now() >= until) throw notEnded(who, pid, within);
    if (now && clock.now() - start >= AT_ONCE_MS && (await runs())) kill(pid);
    await alarm.wait(clock.now() + LOOK_MS);
  }
  return true;
}

/** It may have ended since it was looked at. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

const notEnded = (who: string, pid: number, within: string): NodeFailure =>
  new NodeFailure(
    'AgentRunning',
    `${who} did not stop ${within}: it is suspended or hangs. Kill it with "kill -KILL ${pid}", then run "statelet down" again`,
  );
