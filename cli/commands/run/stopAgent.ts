/** Stops an agent that was started with `statelet up`, for `statelet down`. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { createAlarm } from '../../../actors/alarm.ts';
import { NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { runningAgentPid } from '../../../node/start/checks/lock.ts';
import { agentClient } from '../../../socket/client.ts';
import { isListening, socketPath } from '../../../socket/socketPath.ts';
import { readPodList } from '../get/readPods.ts';
import { drainTimeout } from './drain.ts';

const POLL_INTERVAL_MS = 100;
/** Time that the private containerd may take to stop after its pods, in milliseconds. */
const RUNTIME_STOP_TIMEOUT_MS = 30_000;
/** Time in milliseconds between SIGQUIT and SIGKILL, during which the agent can restore its terminal. */
const QUIT_TIMEOUT_MS = 2_000;
/** Time that a killed process may take to disappear, in milliseconds. */
const KILL_TIMEOUT_MS = 10_000;
/** Time limit in milliseconds for stopping an agent that does not respond to queries about its pods. */
const UNRESPONSIVE_TIMEOUT_MS = 120_000;

const nodeSchema = z.looseObject({ tags: z.array(z.string()) });

/** Whether the process was started as `statelet up`. Other agents leave their pods running when they stop. */
async function isUpProcess(pid: number): Promise<boolean> {
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return args.find((word) => word === 'run' || word === 'up') === 'up';
}

/**
 * Queries whether the node is already stopping, and computes how long the stop may take. An agent that does not respond
 * is assumed to be running.
 */
async function queryShutdown(rootDirectory: string): Promise<{ isStopping: boolean; timeoutMs: number }> {
  const client = agentClient(socketPath(rootDirectory));
  try {
    const [node, pods] = await Promise.all([client.json('/node'), client.json('/api/v1/pods')]);
    const isStopping = nodeSchema.parse(node).tags.includes('ending');
    return { isStopping, timeoutMs: drainTimeout(readPodList(pods)) + RUNTIME_STOP_TIMEOUT_MS };
  } catch {
    return { isStopping: false, timeoutMs: UNRESPONSIVE_TIMEOUT_MS };
  }
}

/**
 * Stops the running agent gracefully and waits for its exit. If the agent is already stopping, only waits, because a
 * second signal would make the agent leave its pods running. With `now`, stops the agent immediately, with SIGKILL if
 * necessary, and leaves its pods running. Returns whether an agent was running.
 */
export async function stopAgent(
  rootDirectory: string,
  { write, clock, now }: { write: (text: string) => unknown; clock: Clock; now: boolean },
): Promise<boolean> {
  const pid = await runningAgentPid(rootDirectory);
  if (pid === undefined) {
    if (!(await isListening(socketPath(rootDirectory)))) return false;
    const message = `an agent answers on ${socketPath(rootDirectory)}, but its process is not visible from here (another PID namespace?): stop it where it runs`;
    throw new NodeFailure('AgentRunning', message);
  }
  if (!(await isUpProcess(pid))) {
    const message = `process ${pid} runs a node on ${rootDirectory} that was not started by "statelet up": stop it first`;
    throw new NodeFailure('AgentRunning', message);
  }
  const agentText = `"statelet up" (process ${pid})`;
  const { isStopping, timeoutMs } = now
    ? { isStopping: false, timeoutMs: QUIT_TIMEOUT_MS + KILL_TIMEOUT_MS }
    : await queryShutdown(rootDirectory);
  const timeoutText = `within ${Math.ceil(timeoutMs / 1_000)} s`;
  if (now) write(`stopping ${agentText} at once\n`);
  else if (isStopping)
    write(`${agentText} is already stopping: waiting for it to terminate its pods, ${timeoutText}\n`);
  else write(`stopping ${agentText}: its pods terminate gracefully, ${timeoutText}\n`);
  if (!isStopping) process.kill(pid, now ? 'SIGQUIT' : 'SIGTERM');
  const alarm = createAlarm(clock);
  const startedAt = clock.now();
  const deadline = startedAt + timeoutMs;
  const isRunning = async () => (await runningAgentPid(rootDirectory)) === pid;
  // Check the socket too, because a killed process can disappear before its last thread has closed the socket.
  const isPresent = async () => (await isRunning()) || (now && (await isListening(socketPath(rootDirectory))));
  while (await isPresent()) {
    if (clock.now() >= deadline) throw stopTimeoutError(agentText, pid, timeoutText);
    if (now && clock.now() - startedAt >= QUIT_TIMEOUT_MS && (await isRunning())) kill(pid);
    await alarm.waitUntil(clock.now() + POLL_INTERVAL_MS);
  }
  return true;
}

/** Kills a process. Ignores errors, because the process may have exited in the meantime. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

const stopTimeoutError = (processText: string, pid: number, within: string): NodeFailure =>
  new NodeFailure(
    'AgentRunning',
    `${processText} did not stop ${within}: it is suspended or hangs. Kill it with "kill -KILL ${pid}", then run "statelet down" again`,
  );
