import type { Logger } from 'pino';
import { messageOf } from '../pod/failure.ts';
import { type AgentSocket, serveSocket } from '../server/socket.ts';
import { socketPath } from '../server/socketPath.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { startPage } from './page.ts';
import type { StartedNode } from './startNode.ts';
import { ownVersion } from './version.ts';

interface ServeOptions {
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Told where the page is, once it is there; absent: a link with a token is left in a file for its owner. */
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
  const onServed = onPage ?? ((url: string) => leaveLink(url, { config, logger }));
  const page = inspected && startPage({ config, logger, inspected, onServed });
  return {
    close: async () => {
      await Promise.all([socket.close(), page?.close()]);
    },
  };
}

/** Without a token the log has said it already. */
function leaveLink(url: string, { config, logger }: Pick<ServeOptions, 'config' | 'logger'>): void {
  if (!new URL(url).searchParams.has('token')) return;
  import('./pageLink.ts')
    .then(({ keepPageLink }) => keepPageLink(config.rootDirectory, url))
    .then(
      (file) => logger.info({ file }, `the link to the page, with its token, is in ${file}`),
      (error: unknown) => logger.warn(`the link to the page cannot be written: ${messageOf(error)}`),
    );
}
