import type { Logger } from 'pino';
import { messageOf } from '../pod/failure.ts';
import { type AgentSocket, serveSocket } from '../server/socket.ts';
import { socketPath } from '../server/socketPath.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { startPage } from './page.ts';
import { pageLinkPath, writePageLink } from './pageLink.ts';
import type { StartedNode } from './startNode.ts';
import { ownVersion } from './version.ts';

interface ServeOptions {
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Called with the link to the page, which contains its token, once the page is served. */
  readonly onPage?: (url: string) => void;
}

/**
 * Serves a node on the socket below its root directory, and its page, whose link is written to a file. If the socket cannot
 * be served, the node is stopped, because the caller may end the runtime next.
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
  const onServed = (url: string) => {
    onPage?.(url);
    publishLink(url, { config, logger });
  };
  const page = inspected && startPage({ config, logger, inspected, onServed });
  return {
    close: async () => {
      await Promise.all([socket.close(), page?.close()]);
    },
  };
}

function publishLink(url: string, { config, logger }: Pick<ServeOptions, 'config' | 'logger'>): void {
  const file = pageLinkPath(config.rootDirectory);
  writePageLink(file, url).then(
    () => logger.info({ file }, `the link to the page is in ${file}, which only its owner can read`),
    (error: unknown) => logger.warn({ file }, `the link to the page cannot be written to ${file}: ${messageOf(error)}`),
  );
}
