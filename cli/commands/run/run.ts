import type { Logger } from 'pino';
import { systemClock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { loadConfig } from '../../../node/config/loadConfig.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import type { Flags } from '../../../node/config/settings/allSettings.ts';
import { runDirectory } from '../../../node/host/paths.ts';
import { createLogger } from '../../../node/log/logger.ts';
import { serveNode } from '../../../node/serve/serveNode.ts';
import { lockRootDirectory } from '../../../node/start/lock.ts';
import { assertNoKubelet } from '../../../node/start/runningKubelets.ts';
import type { StartedNode, StartNode } from '../../../node/start/startNode.ts';
import type { SystemdNotifier } from '../../../node/start/systemd.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { checkSocketPath, socketPath } from '../../../socket/socketPath.ts';
import { askedToEnd, endOnSignals } from '../../terminal/signals.ts';
import { runOnce } from './runOnce.ts';
import { nameOf, planTakeOver, planText, refuseTakeOver } from './takeOver.ts';

const defaults = { rootDirectory: runDirectory };

type Write = (text: string) => unknown;

/** Reports what becomes of each pod; rejects when one does not come to run or to a good end. */
async function reportOnce(agent: AgentPort, write: Write, asked: AbortSignal): Promise<void> {
  const results = await runOnce(agent, systemClock, asked);
  for (const { name, message } of results) write(`${name}: ${message}\n`);
  if (results.length === 0) write('no pods\n');
  const failed = results.filter(({ isGood }) => !isGood).map(({ name }) => name);
  if (failed.length > 0) throw new NodeFailure('RunOnceFailed', `error running pods: ${failed.join(', ')}`);
}

/** Tells which pods are taken over, or why none is: before anything is changed. */
async function tellTakeOver(config: NodeConfig, logger: Logger, asked: AbortSignal): Promise<void> {
  const plan = await planTakeOver(config, asked);
  refuseTakeOver(plan);
  if (plan.pods.length === 0) logger.info(`no pods to take over below ${config.rootDirectory}`);
  for (const pod of plan.pods) {
    logger.info({ pod: `${pod.namespace}/${pod.name}`, uid: pod.uid }, `taking over pod ${nameOf(pod)}: ${pod.why}`);
  }
}

const hasManifests = ({ staticPodPath, manifestUrl }: NodeConfig): boolean =>
  staticPodPath !== undefined || manifestUrl !== undefined;

/** Throws a `ConfigError` unless the user with this ID may manage containers, cgroups and mounts. */
export function requireRoot(uid = process.getuid?.()): void {
  if (uid === undefined || uid === 0) return;
  throw new ConfigError('run needs root; without root, "statelet up" runs pods on a simulated runtime');
}

/** The daemon: runs the node agent until a signal, then stops it and leaves every pod running. */
export async function run(flags: Flags, startNode: StartNode, write: Write): Promise<void> {
  const { config, warnings } = await loadConfig(flags, { defaults, checkHost: true });
  if (config.runOnce && !hasManifests(config))
    throw new ConfigError('--runonce needs pods to run: set --pod-manifest-path or --manifest-url');
  if (config.runOnce && config.cluster !== undefined)
    throw new ConfigError('--runonce takes no pods of a cluster: leave out --kubeconfig');
  checkSocketPath(socketPath(config.rootDirectory));
  const how = flags['--take-over'];
  if (how === 'list') {
    write(planText(await planTakeOver(config), config));
    return;
  }
  const systemd = config.runOnce ? undefined : await heardBySystemd();
  const log = await createLogger({ logging: config.logging, simulated: false });
  const { logger } = log;
  await assertNoKubelet(config.rootDirectory);
  const release = await lockRootDirectory(config.rootDirectory);
  const signals = endOnSignals();
  try {
    for (const warning of warnings) logger.warn(warning);
    if (!hasManifests(config) && config.cluster === undefined)
      logger.warn('no pods to run: neither --kubeconfig nor --pod-manifest-path nor --manifest-url is set');
    if (how === 'now') await tellTakeOver(config, logger, signals.asked);
    const node = await startNode({ config, simulated: false, ...log, takesOver: how === 'now' });
    await runNode(node, { config, logger, write, asked: signals.asked, systemd: await systemd?.(node, logger) });
  } finally {
    signals.close();
    await release();
  }
  logger.info('the node agent has stopped');
}

/** Serves a node that has been started, until its end is asked for or its work is done, and then stops it. */
async function runNode(
  node: Awaited<ReturnType<StartNode>>,
  parts: {
    readonly config: NodeConfig;
    readonly logger: Logger;
    readonly write: Write;
    readonly asked: AbortSignal;
    readonly systemd: SystemdNotifier | undefined;
  },
): Promise<void> {
  const { config, logger, write, asked, systemd } = parts;
  const socket = await serveNode(node, { config, logger });
  logger.info({ node: config.nodeName, socket: socketPath(config.rootDirectory) }, 'the node agent is running');
  void systemd?.ready();
  try {
    if (config.runOnce) return await Promise.race([reportOnce(node.agent, write, asked), node.failed]);
    await Promise.race([askedToEnd(asked), node.failed]);
    logger.info({ signal: asked.reason }, 'stopping the node agent; its pods keep running');
  } finally {
    const told = systemd?.stopping();
    await socket.close();
    await node.stop();
    await told;
  }
}

/** Few are services of `Type=notify`. Throws where systemd would not let the agent live. */
async function heardBySystemd() {
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = process.env;
  if (!NOTIFY_SOCKET && !WATCHDOG_USEC) return undefined;
  const { readNotifyOptions: systemdWants, createSystemdNotifier: tellSystemd } = await import(
    '../../../node/start/systemd.ts'
  );
  const wants = systemdWants(process.env, process.pid);
  return (
    wants &&
    (async ({ checks }: Pick<StartedNode, 'checks'>, logger: Logger): Promise<SystemdNotifier> => {
      return tellSystemd(wants, { clock: systemClock, logger, checks: (await checks?.()) ?? [] });
    })
  );
}
