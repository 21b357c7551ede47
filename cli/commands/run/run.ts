import { join } from 'node:path';
import type { Logger } from 'pino';
import { NodeFailure } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { loadConfig } from '../../../node/config/loadConfig.ts';
import type { ConfigDefaults, NodeConfig } from '../../../node/config/nodeConfig.ts';
import type { Flags } from '../../../node/config/settings/allSettings.ts';
import { runDirectory } from '../../../node/host/paths.ts';
import { createLogger } from '../../../node/log/logger.ts';
import { serveNode } from '../../../node/serve/serveNode.ts';
import { lockRootDirectory } from '../../../node/start/checks/lock.ts';
import { assertNoKubelet } from '../../../node/start/checks/runningKubelets.ts';
import type { StartedNode, StartNode } from '../../../node/start/startNode.ts';
import type { SystemdNotifier } from '../../../node/start/systemd.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { checkSocketPath, socketPath } from '../../../socket/socketPath.ts';
import { handleStopSignals, untilStopRequested } from '../../terminal/signals.ts';
import { runOnce } from './runOnce.ts';
import { assertNoObstacles, planTakeOver, planText, podNameAndUid } from './takeOver.ts';

/**
 * Whether the host is dedicated to the node. Set `STATELET_HOST_SETTINGS=unchanged` if a kubelet runs on the same host.
 */
function isHostDedicated(): boolean {
  const value = process.env.STATELET_HOST_SETTINGS || undefined;
  if (value !== undefined && value !== 'unchanged')
    throw new ConfigError(`STATELET_HOST_SETTINGS: expected "unchanged", got ${JSON.stringify(value)}`);
  return value === undefined;
}

type RunDefaults = Pick<ConfigDefaults, 'rootDirectory' | 'isHostDedicated' | 'devicePluginDirectory'>;

/**
 * Returns the defaults of `run`. On a host that is not dedicated to the node, device plugins use a directory below the
 * root directory, because a kubelet may be using the usual one.
 */
function runDefaults({ '--root-dir': rootDirectory = runDirectory }: Flags): RunDefaults {
  return isHostDedicated()
    ? { rootDirectory: runDirectory, isHostDedicated: true }
    : { rootDirectory: runDirectory, devicePluginDirectory: join(rootDirectory, 'device-plugins') };
}

type Write = (text: string) => unknown;

/** Prints the result of each pod. Rejects if a pod is neither running nor succeeded. */
async function reportResults(agent: AgentPort, write: Write, stopSignal: AbortSignal): Promise<void> {
  const podResults = await runOnce(agent, systemClock, stopSignal);
  for (const { name, message } of podResults) write(`${name}: ${message}\n`);
  if (podResults.length === 0) write('no pods\n');
  const failedNames = podResults.filter(({ hasSucceeded }) => !hasSucceeded).map(({ name }) => name);
  if (failedNames.length > 0) throw new NodeFailure('RunOnceFailed', `error running pods: ${failedNames.join(', ')}`);
}

/** Logs which pods will be taken over, or throws if the takeover is refused. Changes nothing. */
async function logTakeOver(config: NodeConfig, logger: Logger, stopSignal: AbortSignal): Promise<void> {
  const takeOverPlan = await planTakeOver(config, stopSignal);
  assertNoObstacles(takeOverPlan);
  if (takeOverPlan.pods.length === 0) logger.info(`no pods to take over below ${config.rootDirectory}`);
  for (const pod of takeOverPlan.pods) {
    logger.info(
      { pod: `${pod.namespace}/${pod.name}`, uid: pod.uid },
      `taking over pod ${podNameAndUid(pod)}: ${pod.why}`,
    );
  }
}

const hasManifests = ({ staticPodPath, manifestUrl }: NodeConfig): boolean =>
  staticPodPath !== undefined || manifestUrl !== undefined;

/** Throws a `ConfigError` unless the user with this ID is allowed to manage containers, cgroups and mounts. */
export function requireRoot(uid = process.getuid?.()): void {
  if (uid === undefined || uid === 0) return;
  throw new ConfigError('run needs root; without root, "statelet up" runs pods on a simulated runtime');
}

/** Runs the node agent until a signal arrives, then stops it and leaves every pod running. */
export async function run(flags: Flags, startNode: StartNode, write: Write): Promise<void> {
  const defaults = runDefaults(flags);
  const { config, warnings } = await loadConfig(flags, { defaults, checkHost: true });
  if (config.runOnce && !hasManifests(config))
    throw new ConfigError('--runonce needs pods to run: set --pod-manifest-path or --manifest-url');
  if (config.runOnce && config.cluster !== undefined)
    throw new ConfigError('--runonce takes no pods of a cluster: leave out --kubeconfig');
  checkSocketPath(socketPath(config.rootDirectory));
  const takeOver = flags['--take-over'];
  if (takeOver === 'list') {
    write(planText(await planTakeOver(config), config));
    return;
  }
  const connectSystemd = config.runOnce ? undefined : await createSystemdConnector();
  const log = await createLogger({ logging: config.logging, isSimulated: false });
  const { logger } = log;
  await assertNoKubelet(config.rootDirectory);
  const releaseLock = await lockRootDirectory(config.rootDirectory);
  const signals = handleStopSignals();
  try {
    for (const warning of warnings) logger.warn(warning);
    if (!hasManifests(config) && config.cluster === undefined)
      logger.warn('no pods to run: neither --kubeconfig nor --pod-manifest-path nor --manifest-url is set');
    if (takeOver === 'now') await logTakeOver(config, logger, signals.stopSignal);
    const node = await startNode({ config, isSimulated: false, ...log, takesOver: takeOver === 'now' });
    await runNode(node, {
      config,
      logger,
      write,
      stopSignal: signals.stopSignal,
      systemd: await connectSystemd?.(node, logger),
    });
  } finally {
    signals.close();
    await releaseLock();
  }
  logger.info('the node agent has stopped');
}

/** Serves a started node until a stop is requested or `--runonce` has completed, then stops it. */
async function runNode(
  node: Awaited<ReturnType<StartNode>>,
  options: {
    readonly config: NodeConfig;
    readonly logger: Logger;
    readonly write: Write;
    readonly stopSignal: AbortSignal;
    readonly systemd: SystemdNotifier | undefined;
  },
): Promise<void> {
  const { config, logger, write, stopSignal, systemd } = options;
  const socket = await serveNode(node, { config, logger });
  logger.info({ node: config.nodeName, socket: socketPath(config.rootDirectory) }, 'the node agent is running');
  void systemd?.ready();
  try {
    if (config.runOnce) return await Promise.race([reportResults(node.agent, write, stopSignal), node.agentFailure]);
    await Promise.race([untilStopRequested(stopSignal), node.agentFailure]);
    logger.info({ signal: stopSignal.reason }, 'stopping the node agent; its pods keep running');
  } finally {
    const stoppingNotification = systemd?.stopping();
    await socket.close();
    await node.stop();
    await stoppingNotification;
  }
}

/**
 * Returns a function that connects a node to systemd, or undefined unless this process is a systemd service with
 * `Type=notify`. Throws if the watchdog interval is too short for the agent.
 */
async function createSystemdConnector() {
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = process.env;
  if (!NOTIFY_SOCKET && !WATCHDOG_USEC) return undefined;
  const { readNotifyOptions: readOptions, createSystemdNotifier: createNotifier } = await import(
    '../../../node/start/systemd.ts'
  );
  const notifyOptions = readOptions(process.env, process.pid);
  return (
    notifyOptions &&
    (async ({ createChecks }: Pick<StartedNode, 'createChecks'>, logger: Logger): Promise<SystemdNotifier> => {
      return createNotifier(notifyOptions, { clock: systemClock, logger, checks: (await createChecks?.()) ?? [] });
    })
  );
}
