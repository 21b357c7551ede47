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
import { keptTrying, RETRY_MS } from './keptTrying.ts';
import { packageDirectory } from './places.ts';

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
  return keptTrying({
    make: () => serve(options, inspect),
    clock,
    onMade: ({ url: own }) => {
      // The token is for nobody who reads the log.
      const url = `${new URL(own).origin}/`;
      logger.info({ url }, `the page is at ${url}`);
      onServed?.(own);
    },
    onProblem: (why) => logger.warn(`no page, retrying every ${RETRY_MS / 1_000} s: ${why}`),
  });
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
