import type { Logger } from 'pino';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import { Secret } from '../../host/secret.ts';
import { type AgentSocket, serveSocket } from '../../socket/socket.ts';
import { socketPath } from '../../socket/socketPath.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { ownVersion } from '../start/ownVersion.ts';
import { RETRY_MS, retryUntilStarted } from '../start/retryUntilStarted.ts';
import type { StartedNode } from '../start/startNode.ts';
import { startPage } from './page.ts';
import { pageLinkPath, writePageLink } from './pageLink.ts';

interface ServeOptions {
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Called with the link to the page, which contains its token, once the page is served. */
  readonly onPage?: (url: string) => void;
  readonly clock?: Clock;
}

/**
 * Serves the socket and the page of a node, and writes the link to the page to a file. If the socket cannot be served, the
 * node is stopped, because the caller may stop the runtime next.
 */
export async function serveNode(
  { agent, stop, createInspected }: Pick<StartedNode, 'agent' | 'stop' | 'createInspected'>,
  { config, logger, onPage, clock = systemClock }: ServeOptions,
): Promise<Pick<AgentSocket, 'close'>> {
  const agentSocket = await serveSocket({ path: socketPath(config.rootDirectory), agent, version: ownVersion() }).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  let pageLink: ReturnType<typeof publishLink> | undefined;
  const onServed = (url: string) => {
    onPage?.(url);
    pageLink = publishLink(url, { config, logger, clock });
  };
  const pageServer = createInspected && startPage({ config, logger, createInspected, onServed });
  return {
    close: async () => {
      await Promise.all([agentSocket.close(), pageServer?.close()]);
      await pageLink?.close();
    },
  };
}

/** Writes the link to a file, with retries, e.g. while the disk is full. */
function publishLink(
  url: string,
  { config, logger, clock }: Pick<ServeOptions, 'config' | 'logger'> & { readonly clock: Clock },
): { close(): Promise<void> } {
  const file = pageLinkPath(config.rootDirectory);
  // Wrap the link in a `Secret`, because the closure below would otherwise retain the link's token as plain text in the
  // heap.
  const secretLink = new Secret(url);
  const onRenamed = (directory: string, renamedTo: string) =>
    logger.warn(
      { file },
      `${directory} should be the file with the link to the page, but was a directory: renamed to ${renamedTo}`,
    );
  return retryUntilStarted({
    startService: async () => {
      await writePageLink(file, secretLink.read(), onRenamed);
      return { close: async () => {} };
    },
    clock,
    onStarted: () => logger.info({ file }, `the link to the page is in ${file}, which only its owner can read`),
    onProblem: (why) => {
      const retryText = `retrying every ${RETRY_MS / 1_000} s`;
      logger.warn({ file }, `the link to the page cannot be written to ${file}, ${retryText}: ${why}`);
    },
  });
}
