/** Serves the page of the node. The node continues to run if its page cannot be served. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../../base/failure.ts';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import { isWildcard } from '../../inspect/address.ts';
import type { InspectedNode } from '../../inspect/inspected.ts';
import type { PageServer } from '../../inspect/servePage.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { packageDirectory } from '../host/paths.ts';
import { RETRY_MS, retryUntilStarted } from '../start/retryUntilStarted.ts';
import { pageLinkPath, readPageToken } from './pageLink.ts';

const TOKEN_BYTES = 24;
const ADDRESS_HINT = ' (--inspect-address chooses another address, or none)';

interface PageOptions {
  readonly config: Pick<NodeConfig, 'inspect' | 'nodeIps' | 'rootDirectory'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Returns the view of the node. Called on the first request. */
  readonly createInspected: () => Promise<InspectedNode>;
  /** Called with the link to the page, which contains the token. */
  readonly onServed?: (url: string) => void;
  readonly clock?: Clock;
}

/** Returns the directory to which the build writes the page. */
export const pageDirectory = (): string => join(packageDirectory(), 'dist', 'web');

/** Serves the page, and retries until its address is available. `close` stops the server or the retries. */
export function startPage(options: PageOptions): { close(): Promise<void> } {
  const { config, logger, clock = systemClock, onServed } = options;
  const { inspect } = config;
  if (inspect === undefined) return { close: async () => {} };
  return retryUntilStarted({
    startService: () => servePage(options, inspect),
    clock,
    onStarted: ({ url: urlWithToken }) => {
      // Do not log the token, because other users may be able to read the log.
      const url = `${new URL(urlWithToken).origin}/`;
      logger.info({ url }, `the page is at ${url}`);
      onServed?.(urlWithToken);
    },
    onProblem: (why) =>
      logger.warn(`the page is not served, retrying every ${RETRY_MS / 1_000} s: ${why}${ADDRESS_HINT}`),
  });
}

/** Returns a random token for the link to a page. */
export const newPageToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

async function servePage(
  { config, createInspected, logger }: PageOptions,
  { address, isOpen, tls }: NonNullable<NodeConfig['inspect']>,
): Promise<PageServer> {
  const { servePage } = await import('../../inspect/servePage.ts');
  const files = tls && { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) };
  const linkFile = pageLinkPath(config.rootDirectory);
  return servePage({
    address,
    openInspectedNode: createInspected,
    directory: pageDirectory(),
    tls: files,
    token: isOpen ? undefined : ((await readPageToken(linkFile)) ?? newPageToken()),
    linkFile,
    name: isWildcard(address) ? config.nodeIps[0] : undefined,
    onError: (error) => logger.error({ err: error }, `cannot send an update to the page: ${messageOf(error)}`),
  });
}
