/**
 * `statelet down`: stops a node that was started with `statelet up`, and removes everything that outlived its agent.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createAlarm } from '../../../actors/alarm.ts';
import { hasSameSocket, SIMULATED_ENDPOINT } from '../../../actors/store/leftOnDisk.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { type Clock, systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import type { Maker } from '../../../host/pods/podMark.ts';
import type { ForeignPod } from '../../../kubernetes/lifecycle/observed.ts';
import { displayName } from '../../../kubernetes/shownName.ts';
import { loadConfig } from '../../../node/config/loadConfig.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import { defaultStateDirectory, stateLayout } from '../../../node/host/paths.ts';
import { createLogger } from '../../../node/log/logger.ts';
import { lockRootDirectory } from '../../../node/start/checks/lock.ts';
import { assertNoKubelet } from '../../../node/start/checks/runningKubelets.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { removeStaleSocket, socketPath } from '../../../socket/socketPath.ts';
import { drainTimeout, drainWithTimeout } from './drain.ts';
import { listRemainingPods, removeRemainingPods } from './remainingPods.ts';
import { stopAgent } from './stopAgent.ts';
import { type PrivateRuntime, type UpDependencies, withRuntime } from './up.ts';

export interface DownOptions {
  readonly stateDir?: string;
  /** The root directory of `up`, if it is not below the state directory. */
  readonly rootDir?: string;
  readonly podLogDir?: string;
  /** Whether each pod gets a grace period of only one second instead of its own. */
  readonly now?: boolean;
}

/** Dependencies of `down`, which tests replace. */
export interface DownDependencies extends Pick<UpDependencies, 'startNode' | 'startRuntime'> {
  /** Describes the leftovers of the private containerd that uses this directory. */
  describeRuntimeLeftovers(directory: string): Promise<string[]>;
  /** Returns the endpoint of the private containerd that uses this directory. */
  endpointOf(directory: string): string;
  /**
   * Returns the node name in the owner annotations of the runtime's pod sandboxes. Undefined if no agent with this root
   * directory created any of them.
   */
  nodeNameOf(endpoint: string, rootDirectory: string): Promise<string | undefined>;
  /** Removes a private containerd that cannot be started, together with its pods. */
  removeRuntime(directory: string): Promise<void>;
  /** Returns the sockets of the agents that run on this host. */
  listAgents(): Promise<readonly string[]>;
  readonly write: (text: string) => unknown;
  readonly clock?: Clock;
}

const POLL_INTERVAL_MS = 100;

type StateLayout = ReturnType<typeof stateLayout>;

const listPodDirectories = (rootDirectory: string): Promise<string[]> =>
  readdir(join(rootDirectory, 'pods')).catch(() => []);

/** Lists the pod directories that do not belong to other agents. */
const listOwnPodDirectories = async (rootDirectory: string, foreign: readonly ForeignPod[]): Promise<string[]> =>
  (await listPodDirectories(rootDirectory)).filter((name) => !foreign.some(({ uid }) => uid === name));

/** Describes the leftovers of the node: its containerd and its pod directories. */
async function describeLeftovers(
  { containerdDirectory, rootDirectory }: StateLayout,
  dependencies: DownDependencies,
  foreign: readonly ForeignPod[] = [],
): Promise<string[]> {
  const { length } = await listOwnPodDirectories(rootDirectory, foreign);
  const pods = length === 0 ? [] : [`${length} pod ${length === 1 ? 'directory' : 'directories'}`];
  return [...(await dependencies.describeRuntimeLeftovers(containerdDirectory)), ...pods];
}

/** Waits until all pods and their directories are gone, or until the drain timeout. */
async function waitUntilPodsRemoved(agent: AgentPort, rootDirectory: string, clock: Clock): Promise<void> {
  const alarm = createAlarm(clock);
  const startedAt = clock.now();
  let timeoutMs = 0;
  for (;;) {
    const pods = agent.pods();
    timeoutMs = Math.max(timeoutMs, drainTimeout(pods));
    const hasLeftovers =
      pods.length > 0 ||
      !agent.node().tags.includes('steady') ||
      (await listOwnPodDirectories(rootDirectory, agent.node().foreign)).length > 0;
    if (!hasLeftovers || clock.now() - startedAt > timeoutMs) return;
    await alarm.waitUntil(clock.now() + POLL_INTERVAL_MS);
  }
}

interface DownContext {
  readonly layout: StateLayout;
  readonly now: boolean;
  readonly dependencies: DownDependencies;
}

/**
 * Starts an agent without pod sources, so that it terminates all pods of the earlier agent. Returns the pods of other
 * agents.
 */
async function terminatePods(
  { now, dependencies }: DownContext,
  { config, isSimulated = false }: { config: NodeConfig; isSimulated?: boolean },
): Promise<readonly ForeignPod[]> {
  const { write, clock = systemClock } = dependencies;
  const log = await createLogger({
    logging: config.logging,
    isSimulated,
    level: 'warn',
    usesShortFormat: process.stderr.isTTY,
  });
  // Set `endsAll` unless `now` is set, because orphaned pods would otherwise have a grace period of only one second.
  const { agent, drain, stop } = await dependencies.startNode({
    config,
    isSimulated,
    ...log,
    endsAll: !now,
  });
  const stopReporting = reportTerminations(agent, write);
  try {
    await waitUntilPodsRemoved(agent, config.rootDirectory, clock);
    const print = (line: string) => write(`${line}\n`);
    await drainWithTimeout({ pods: agent.pods(), drain, clock, print });
    return agent.node().foreign;
  } finally {
    stopReporting();
    await stop();
  }
}

function reportTerminations(agent: AgentPort, write: DownDependencies['write']): () => void {
  return agent.subscribe(({ pod, removed }) => {
    if (removed) write(`pod ${displayName(pod.metadata)} terminated\n`);
  });
}

/** Loads the configuration of a node without pod sources. */
async function readConfig(stateDirectories: StateLayout, nodeName: string | undefined): Promise<NodeConfig> {
  const flags = nodeName === undefined ? {} : { '--hostname-override': nodeName };
  return (await loadConfig(flags, { defaults: stateDirectories, checkHost: false })).config;
}

/** Terminates the pods on their runtime, then stops the private containerd. */
async function terminateAll(downContext: DownContext): Promise<readonly ForeignPod[]> {
  const { layout, dependencies } = downContext;
  const { containerdDirectory } = layout;
  const podCreators = (await listRemainingPods(layout)).flatMap(({ creator = [] }) => creator);
  const privateEndpoint = dependencies.endpointOf(containerdDirectory);
  const externalCreator = podCreators.find(
    ({ runtime }) => runtime !== SIMULATED_ENDPOINT && !hasSameSocket(hostFiles, runtime, privateEndpoint),
  );
  const hasPrivateRuntime = (await dependencies.describeRuntimeLeftovers(containerdDirectory)).length > 0;
  if (externalCreator !== undefined) {
    const foreign = await terminateOnExternalRuntime(downContext, externalCreator);
    if (hasPrivateRuntime) await dependencies.removeRuntime(containerdDirectory);
    return foreign;
  }
  const [first] = podCreators;
  if (hasPrivateRuntime || first?.runtime !== SIMULATED_ENDPOINT) return terminateOnPrivateRuntime(downContext, first);
  return terminatePods(downContext, { config: await readConfig(layout, first.node), isSimulated: true });
}

/**
 * Terminates the pods that `statelet up --container-runtime-endpoint` started, and leaves the runtime at that endpoint
 * running.
 */
async function terminateOnExternalRuntime(
  downRun: DownContext,
  { node, runtime }: Maker,
): Promise<readonly ForeignPod[]> {
  const { layout, dependencies } = downRun;
  await dependencies.nodeNameOf(runtime, layout.rootDirectory).catch((cause: Error) => {
    const message = `pods below ${layout.rootDirectory} run on ${runtime}, which does not respond (${cause.message}): start that runtime, then run "statelet down" again`;
    throw new NodeFailure('RuntimeUnavailable', message, { cause });
  });
  const config = await readConfig(layout, node);
  const endpoints = { containerRuntimeEndpoint: runtime, imageServiceEndpoint: runtime };
  return terminatePods(downRun, { config: Object.freeze({ ...config, ...endpoints }) });
}

/** Terminates the pods gracefully if the private containerd can be started, else kills them. */
async function terminateOnPrivateRuntime(
  downRun: DownContext,
  podCreator: Maker | undefined,
): Promise<readonly ForeignPod[]> {
  const { layout, dependencies } = downRun;
  const { write } = dependencies;
  const { containerdDirectory, rootDirectory } = layout;
  let runtime: PrivateRuntime;
  try {
    const onProgress = (step: string) => write(`${step}\n`);
    runtime = await dependencies.startRuntime(containerdDirectory, {
      onProgress,
      stopSignal: neverAbortedSignal,
      terminatesPods: true,
    });
  } catch (error) {
    write(`the pods are killed without a grace period: ${summaryLine(error)}\n`);
    await dependencies.removeRuntime(containerdDirectory);
    return removeRemainingPods(layout, neverAbortedSignal);
  }
  try {
    const nodeName = (await dependencies.nodeNameOf(runtime.endpoint, rootDirectory)) ?? podCreator?.node;
    return await terminatePods(downRun, { config: withRuntime(await readConfig(layout, nodeName), runtime) });
  } finally {
    await runtime.stop();
  }
}

const neverAbortedSignal = new AbortController().signal;

/** Shortens a message of several lines to its first and last line, because a quoted log ends with the cause. */
function summaryLine(error: unknown): string {
  const [first = '', ...others] = messageOf(error).trim().split('\n');
  return [first, ...others.slice(-1)].join(' ');
}

function layoutFor(stateDirectory: string, { rootDir, podLogDir }: DownOptions): StateLayout {
  return {
    ...stateLayout(stateDirectory),
    ...(rootDir === undefined ? {} : { rootDirectory: resolve(rootDir) }),
    ...(podLogDir === undefined ? {} : { podLogsDirectory: resolve(podLogDir) }),
  };
}

/** Stops the node of a state directory. Does nothing if it has already stopped. */
export async function runDown(options: DownOptions, dependencies: DownDependencies): Promise<void> {
  const { write, clock = systemClock } = dependencies;
  const { now = false } = options;
  const stateDirectory = resolve(options.stateDir ?? defaultStateDirectory());
  const layout = layoutFor(stateDirectory, options);
  const { rootDirectory } = layout;
  await assertNoKubelet(rootDirectory);
  const wasAgentRunning = await stopAgent(rootDirectory, { write, clock, now });
  const initialLeftovers = await describeLeftovers(layout, dependencies);
  if (initialLeftovers.length === 0 && !existsSync(socketPath(rootDirectory))) {
    write(
      wasAgentRunning
        ? `the node of ${stateDirectory} has stopped and left nothing behind\n`
        : notRunningText(stateDirectory, await dependencies.listAgents()),
    );
    return;
  }
  for (const each of initialLeftovers) write(`found ${each}\n`);
  const releaseLock = await lockRootDirectory(rootDirectory);
  let foreignPods: readonly ForeignPod[] = [];
  try {
    if (initialLeftovers.length > 0) foreignPods = await terminateAll({ layout, now, dependencies });
    await removeStaleSocket(socketPath(rootDirectory));
  } finally {
    await releaseLock();
  }
  if (initialLeftovers.length === 0) return void write(notRunningText(stateDirectory, await dependencies.listAgents()));
  for (const { directory, why } of foreignPods) if (directory) write(`left alone ${directory}: ${why}\n`);
  const finalLeftovers = await describeLeftovers(layout, dependencies, foreignPods);
  if (finalLeftovers.length > 0) throw new NodeFailure('LeftBehind', `not cleaned up: ${finalLeftovers.join(', ')}`);
  write(`the node has stopped; its images, logs and saved state stay in ${stateDirectory}\n`);
}

/**
 * Returns a message that names the searched directory and the directories of running agents, one of which may be the
 * intended one.
 */
function notRunningText(stateDirectory: string, sockets: readonly string[]): string {
  const otherAgents = sockets.map((socket) => {
    const rootDirectory = dirname(socket);
    return basename(rootDirectory) === 'kubelet'
      ? `--state-dir ${dirname(rootDirectory)}`
      : `--root-dir ${rootDirectory}`;
  });
  const hint = otherAgents.length === 0 ? '' : `; other agents: ${otherAgents.join(', ')}`;
  return `no "statelet up" is running for ${stateDirectory}${hint}\n`;
}
