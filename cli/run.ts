import { serveSocket } from '../server/socket.ts';
import { checkSocketPath, socketPath } from '../server/socketPath.ts';
import type { Flags } from './config/flags.ts';
import { claimRootDirectory } from './lock.ts';
import { createLogger } from './logger.ts';
import { kubeletDirectory } from './places.ts';
import { readSettings } from './settings.ts';
import { askedToEnd, endOnSignals } from './signals.ts';
import type { StartNode } from './startNode.ts';

const defaults = { rootDirectory: kubeletDirectory, podLogsDirectory: '/var/log/pods' };

/** The daemon: runs the node agent until a signal, then stops it and leaves every pod running. */
export async function run(flags: Flags, startNode: StartNode): Promise<void> {
  const { config, warnings } = await readSettings(flags, { defaults, checkHost: true });
  const path = socketPath(config.rootDirectory);
  checkSocketPath(path);
  const terminal = process.stderr.isTTY === true;
  const logger = await createLogger({ logging: config.logging, terminal, simulated: false });
  const release = await claimRootDirectory(config.rootDirectory);
  const signals = endOnSignals();
  try {
    for (const warning of warnings) logger.warn(warning);
    if (config.staticPodPath === undefined && config.manifestUrl === undefined)
      logger.warn('no pods to run: neither --pod-manifest-path nor --manifest-url is set');
    const node = await startNode({ config, simulated: false, logger });
    const socket = await serveSocket({ path, agent: node.agent });
    logger.info({ node: config.nodeName, socket: path }, 'the node agent runs');
    try {
      await Promise.race([askedToEnd(signals.asked), node.failed]);
      logger.info({ signal: signals.asked.reason }, 'stopping the agent; its pods go on running');
    } finally {
      await socket.close();
      await node.stop();
    }
  } finally {
    signals.close();
    await release();
  }
  logger.info('the node agent has stopped');
}
