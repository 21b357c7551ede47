import { dirname } from 'node:path';
import { NodeFailure } from '../base/failure.ts';
import { candidateSockets, isDirectorySet } from '../node/host/paths.ts';
import { runningAgentPid } from '../node/start/lock.ts';
import { type AgentClient, findAgent } from '../socket/client.ts';
import { listeningAgents } from '../socket/socketPath.ts';

/** Returns the process of the agent that has this socket, from the lock of its root directory. */
const processAt = (socket: string): Promise<number | undefined> => runningAgentPid(dirname(socket));

/** Connects to the agent that the flags or `STATELET_STATE_DIR` name, else to one at a default path, else to the only one. */
export const agentNamed = (named: { rootDir?: string; stateDir?: string }): Promise<AgentClient> => {
  const sockets = candidateSockets(named);
  return isDirectorySet(named) ? findAgent(sockets, processAt) : agentAmong(sockets, listeningAgents);
};

/** Connects to the first of `sockets` at which an agent answers, else to the only agent of the host. */
export async function agentAmong(
  sockets: readonly string[],
  listAgents: () => Promise<readonly string[]>,
): Promise<AgentClient> {
  try {
    return await findAgent(sockets, processAt);
  } catch (error) {
    if (!(error instanceof NodeFailure) || error.reason !== 'NoAgent') throw error;
    const others = (await listAgents()).filter((socket) => !sockets.includes(socket));
    if (others.length === 0) throw error;
    if (others.length === 1) return findAgent(others, processAt);
    const roots = others.map((socket) => `--root-dir ${dirname(socket)}`);
    throw new NodeFailure('NoAgent', `several agents are running: choose one with ${roots.join(' or ')}`, {
      cause: error,
    });
  }
}
