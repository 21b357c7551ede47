/** The page of the command line's node: served as long as the node runs, and never a reason for it not to. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../actors/clock.ts';
import { isLoopback, isWildcard } from '../inspect/address.ts';
import type { Inspected } from '../inspect/inspected.ts';
import type { PageServer } from '../inspect/server.ts';
import { messageOf } from '../pod/failure.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { packageDirectory } from './places.ts';

/** Another process may have the address for a while. */
const RETRY_MS = 5_000;
const TOKEN_BYTES = 24;

interface PageOptions {
  readonly config: Pick<NodeConfig, 'inspect' | 'nodeIps'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Made when somebody looks for the first time. */
  readonly inspected: () => Promise<Inspected>;
  /** Told where to look: whoever has it may, as the token is in it. */
  readonly onServed?: (url: string) => void;
  readonly clock?: Clock;
}

/** Where the build leaves the page. */
export const pageDirectory = (): string => join(packageDirectory(), 'dist', 'web');

/** Serves the page, or tries to until it can; `close` ends both. */
export function startPage(options: PageOptions): { close(): Promise<void> } {
  const { config, logger, clock = systemClock, onServed } = options;
  const { inspect } = config;
  if (inspect === undefined) return { close: async () => {} };
  let served: Promise<PageServer | undefined> = Promise.resolve(undefined);
  let timer: unknown;
  let isClosed = false;
  let told = '';
  const attempt = async (): Promise<PageServer | undefined> => {
    try {
      const server = await serve(options, inspect);
      // The token is for nobody who reads the log.
      const url = `${new URL(server.url).origin}/`;
      logger.info({ url }, `the page is at ${url}`);
      onServed?.(server.url);
      return server;
    } catch (error) {
      const why = messageOf(error);
      if (why !== told) logger.warn(`no page, retrying every ${RETRY_MS / 1_000} s: ${why}`);
      told = why;
      if (!isClosed) timer = clock.setTimeout(begin, RETRY_MS);
      return undefined;
    }
  };
  const begin = () => {
    served = attempt();
  };
  begin();
  return {
    close: async () => {
      isClosed = true;
      clock.clearTimeout(timer);
      await (await served)?.close();
    },
  };
}

async function serve(
  { config, inspected, logger }: PageOptions,
  { address, tls }: NonNullable<NodeConfig['inspect']>,
): Promise<PageServer> {
  const { servePage } = await import('../inspect/server.ts');
  const files = tls && { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) };
  const token = isLoopback(address) ? undefined : randomBytes(TOKEN_BYTES).toString('base64url');
  return servePage({
    ...{ address, inspected, directory: pageDirectory(), tls: files, token },
    name: isWildcard(address) ? config.nodeIps[0] : undefined,
    onError: (error) => logger.error({ err: error }, `the page cannot be told how it goes on: ${messageOf(error)}`),
  });
}
