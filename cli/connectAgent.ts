import { dirname } from 'node:path';
import { NodeFailure } from '../base/failure.ts';
import { candidateSockets, isAgentDirectorySet } from '../node/host/paths.ts';
import { runningAgentPid } from '../node/start/checks/lock.ts';
import { type AgentClient, findAgent } from '../socket/client.ts';
import { findListeningAgents } from '../socket/socketPath.ts';

/** Returns the process ID of the agent with this socket, according to the lock in its root directory. */
const findAgentPid = (socket: string): Promise<number | undefined> => runningAgentPid(dirname(socket));

/**
 * Connects to the agent that the flags or `STATELET_STATE_DIR` select. Without a selection, connects to an agent at a
 * default path, or else to the only agent on the host.
 */
export const connectAgent = (options: { rootDir?: string; stateDir?: string }): Promise<AgentClient> => {
  const sockets = candidateSockets(options);
  return isAgentDirectorySet(options)
    ? findAgent(sockets, findAgentPid)
    : connectFirstAgent(sockets, findListeningAgents);
};

/** Connects to the first of `sockets` on which an agent responds, or else to the only other agent on the host. */
export async function connectFirstAgent(
  sockets: readonly string[],
  listAgents: () => Promise<readonly string[]>,
): Promise<AgentClient> {
  try {
    return await findAgent(sockets, findAgentPid);
  } catch (error) {
    if (!(error instanceof NodeFailure) || error.reason !== 'NoAgent') throw error;
    const otherSockets = (await listAgents()).filter((socket) => !sockets.includes(socket));
    if (otherSockets.length === 0) throw error;
    if (otherSockets.length === 1) return findAgent(otherSockets, findAgentPid);
    const rootDirFlags = otherSockets.map((socket) => `--root-dir ${dirname(socket)}`);
    throw new NodeFailure('NoAgent', `several agents are running: choose one with ${rootDirFlags.join(' or ')}`, {
      cause: error,
    });
  }
}
