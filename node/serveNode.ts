import { type AgentSocket, serveSocket } from '../server/socket.ts';
import { socketPath } from '../server/socketPath.ts';
import type { StartedNode } from './startNode.ts';
import { ownVersion } from './version.ts';

/**
 * Serves a node on the socket below its root directory. Where that fails the node is stopped: what it runs on may be
 * ended next.
 */
export async function serveNode(
  { agent, stop }: Pick<StartedNode, 'agent' | 'stop'>,
  rootDirectory: string,
): Promise<AgentSocket> {
  try {
    return await serveSocket({ path: socketPath(rootDirectory), agent, version: ownVersion() });
  } catch (error) {
    await stop();
    throw error;
  }
}
