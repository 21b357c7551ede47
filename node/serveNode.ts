import type { Logger } from 'pino';
import { type AgentSocket, serveSocket } from '../server/socket.ts';
import { socketPath } from '../server/socketPath.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { startPage } from './page.ts';
import type { StartedNode } from './startNode.ts';
import { ownVersion } from './version.ts';

interface ServeOptions {
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Told where the page is, once it is there. */
  readonly onPage?: (url: string) => void;
}

/**
 * Serves a node on the socket below its root directory, and its page. Where the socket cannot be had the node is stopped:
 * what it runs on may be ended next.
 */
export async function serveNode(
  { agent, stop, inspected }: Pick<StartedNode, 'agent' | 'stop' | 'inspected'>,
  { config, logger, onPage }: ServeOptions,
): Promise<Pick<AgentSocket, 'close'>> {
  const socket = await serveSocket({ path: socketPath(config.rootDirectory), agent, version: ownVersion() }).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  const page = inspected && startPage({ config, logger, inspected, ...(onPage ? { onServed: onPage } : {}) });
  return {
    close: async () => {
      await Promise.all([socket.close(), page?.close()]);
    },
  };
}
