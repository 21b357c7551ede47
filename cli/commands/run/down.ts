/** `statelet down`: stops a node of `statelet up` and everything that has outlived its agent. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createAlarm } from '../../../actors/alarm.ts';
import { isSameRuntime, SIMULATED } from '../../../actors/store/leftOnDisk.ts';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import type { Maker } from '../../../host/pods/podMark.ts';
import type { ForeignPod } from '../../../kubernetes/lifecycle/observed.ts';
import { displayName } from '../../../kubernetes/shownName.ts';
import { loadConfig } from '../../../node/config/loadConfig.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import { defaultStateDirectory, stateLayout } from '../../../node/host/paths.ts';
import { createLogger } from '../../../node/log/logger.ts';
import { lockRootDirectory } from '../../../node/start/lock.ts';
import { assertNoKubelet } from '../../../node/start/runningKubelets.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { removeStaleSocket, socketPath } from '../../../socket/socketPath.ts';
import { drainInTime, drainTimeout } from './drain.ts';
import { listRemainingPods, removeRemainingPods } from './remainingPods.ts';
import { stopAgent } from './stopAgent.ts';
import { type PrivateRuntime, type UpParts, withRuntime } from './up.ts';

export interface DownOptions {
  readonly stateDir?: string;
  /** The root directory of `up`, if it is not below the state directory. */
  readonly rootDir?: string;
  readonly podLogDir?: string;
  /** Gives each pod a grace period of one second. */
  readonly now?: boolean;
}

/** Dependencies of `down`, which tests replace. */
export interface DownParts extends Pick<UpParts, 'startNode' | 'startRuntime'> {
  /** Describes the remains of the private containerd of a directory. */
  tracesOf(directory: string): Promise<string[]>;
  /** Returns the endpoint of the private containerd of a directory. */
  endpointOf(directory: string): string;
  /** Returns the node name in the marks of a runtime's pods that an agent with this root directory created. */
  nodeNameOf(endpoint: string, rootDirectory: string): Promise<string | undefined>;
  /** Removes a private containerd that cannot be started, together with its pods. */
  endRuntime(directory: string): Promise<void>;
  /** Returns the sockets of the agents that run on this host. */
  listAgents(): Promise<readonly string[]>;
  readonly write: (text: string) => unknown;
  readonly clock?: Clock;
}

const POLL_INTERVAL_MS = 100;

type StateLayout = ReturnType<typeof stateLayout>;

const podDirectories = (rootDirectory: string): Promise<string[]> =>
  readdir(join(rootDirectory, 'pods')).catch(() => []);

/** Lists the pod directories that do not belong to other agents. */
const ownDirectories = async (rootDirectory: string, foreign: readonly ForeignPod[]): Promise<string[]> =>
  (await podDirectories(rootDirectory)).filter((name) => !foreign.some(({ uid }) => uid === name));

/** Describes the remains of the node: its containerd and its pod directories. */
async function describeRemains(
  { containerdDirectory, rootDirectory }: StateLayout,
  dependencies: DownParts,
  foreign: readonly ForeignPod[] = [],
): Promise<string[]> {
  const { length } = await ownDirectories(rootDirectory, foreign);
  const pods = length === 0 ? [] : [`${length} pod ${length === 1 ? 'directory' : 'directories'}`];
  return [...(await dependencies.tracesOf(containerdDirectory)), ...pods];
}

/** Waits until all pods and their directories are gone, or until the drain timeout. */
async function waitUntilGone(agent: AgentPort, rootDirectory: string, clock: Clock): Promise<void> {
  const alarm = createAlarm(clock);
  const start = clock.now();
  let timeoutMs = 0;
  for (;;) {
    const pods = agent.pods();
    timeoutMs = Math.max(timeoutMs, drainTimeout(pods));
    const hasRemains =
      pods.length > 0 ||
      !agent.node().tags.includes('steady') ||
      (await ownDirectories(rootDirectory, agent.node().foreign)).length > 0;
    if (!hasRemains || clock.now() - start > timeoutMs) return;
    await alarm.wait(clock.now() + POLL_INTERVAL_MS);
  }
}

interface DownRun {
  readonly layout: StateLayout;
  readonly now: boolean;
  readonly parts: DownParts;
}

/**
 * Starts an agent without any source of pods, which terminates all pods of the earlier agent because no source wants
 * them. Returns the pods of other agents.
 */
async function terminatePods(
  { now, parts }: DownRun,
  { config, simulated = false }: { config: NodeConfig; simulated?: boolean },
): Promise<readonly ForeignPod[]> {
  const { write, clock = systemClock } = parts;
  const log = await createLogger({ logging: config.logging, simulated, level: 'warn', isShort: process.stderr.isTTY });
  // Orphaned pods have a grace period of one second unless `endsAll` is set.
  const { agent, drain, stop } = await parts.startNode({ config, simulated, ...log, endsAll: !now });
  const stopReporting = reportTerminations(agent, write);
  try {
    await waitUntilGone(agent, config.rootDirectory, clock);
    const print = (line: string) => write(`${line}\n`);
    await drainInTime({ pods: agent.pods(), drain, clock, print });
    return agent.node().foreign;
  } finally {
    stopReporting();
    await stop();
  }
}

function reportTerminations(agent: AgentPort, write: DownParts['write']): () => void {
  return agent.subscribe(({ pod, removed }) => {
    if (removed) write(`pod ${displayName(pod.metadata)} terminated\n`);
  });
}

/** Reads a configuration without any source of pods. */
async function readConfig(places: StateLayout, nodeName: string | undefined): Promise<NodeConfig> {
  const flags = nodeName === undefined ? {} : { '--hostname-override': nodeName };
  return (await loadConfig(flags, { defaults: places, checkHost: false })).config;
}

/** Terminates the pods on their runtime, then stops the private containerd. */
async function terminateAll(run: DownRun): Promise<readonly ForeignPod[]> {
  const { layout, parts } = run;
  const { containerdDirectory } = layout;
  const makers = (await listRemainingPods(layout)).flatMap(({ maker = [] }) => maker);
  const privateEndpoint = parts.endpointOf(containerdDirectory);
  const externalMaker = makers.find(
    ({ runtime }) => runtime !== SIMULATED && !isSameRuntime(hostFiles, runtime, privateEndpoint),
  );
  const hasPrivateRuntime = (await parts.tracesOf(containerdDirectory)).length > 0;
  if (externalMaker !== undefined) {
    const foreign = await terminateOnExternalRuntime(run, externalMaker);
    if (hasPrivateRuntime) await parts.endRuntime(containerdDirectory);
    return foreign;
  }
  const [first] = makers;
  if (hasPrivateRuntime || first?.runtime !== SIMULATED) return terminateOnPrivateRuntime(run, first);
  return terminatePods(run, { config: await readConfig(layout, first.node), simulated: true });
}

/** Terminates the pods of an `up` with `--container-runtime-endpoint`, and leaves that runtime running. */
async function terminateOnExternalRuntime(ending: DownRun, { node, runtime }: Maker): Promise<readonly ForeignPod[]> {
  const { layout, parts } = ending;
  await parts.nodeNameOf(runtime, layout.rootDirectory).catch((cause: Error) => {
    const message = `pods below ${layout.rootDirectory} run on ${runtime}, which does not respond (${cause.message}): start that runtime, then run "statelet down" again`;
    throw new NodeFailure('RuntimeUnavailable', message, { cause });
  });
  const config = await readConfig(layout, node);
  const endpoints = { containerRuntimeEndpoint: runtime, imageServiceEndpoint: runtime };
  return terminatePods(ending, { config: Object.freeze({ ...config, ...endpoints }) });
}

/** Terminates the pods gracefully if the private containerd can be started, else kills them. */
async function terminateOnPrivateRuntime(ending: DownRun, maker: Maker | undefined): Promise<readonly ForeignPod[]> {
  const { layout, parts } = ending;
  const { write } = parts;
  const { containerdDirectory, rootDirectory } = layout;
  let runtime: PrivateRuntime;
  try {
    const onProgress = (step: string) => write(`${step}\n`);
    runtime = await parts.startRuntime(containerdDirectory, {
      onProgress,
      stopSignal: neverAborted,
      terminatesPods: true,
    });
  } catch (error) {
    write(`the pods are killed without a grace period: ${summaryLine(error)}\n`);
    await parts.endRuntime(containerdDirectory);
    return removeRemainingPods(layout, neverAborted);
  }
  try {
    const nodeName = (await parts.nodeNameOf(runtime.endpoint, rootDirectory)) ?? maker?.node;
    return await terminatePods(ending, { config: withRuntime(await readConfig(layout, nodeName), runtime) });
  } finally {
    await runtime.stop();
  }
}

const neverAborted = new AbortController().signal;

/** Shortens a message of several lines to the first and the last, because a quoted log ends with the cause. */
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
export async function down(options: DownOptions, parts: DownParts): Promise<void> {
  const { write, clock = systemClock } = parts;
  const { now = false } = options;
  const stateDirectory = resolve(options.stateDir ?? defaultStateDirectory());
  const layout = layoutFor(stateDirectory, options);
  const { rootDirectory } = layout;
  await assertNoKubelet(rootDirectory);
  const wasAgentRunning = await stopAgent(rootDirectory, { write, clock, now });
  const remainsBefore = await describeRemains(layout, parts);
  if (remainsBefore.length === 0 && !existsSync(socketPath(rootDirectory))) {
    write(
      wasAgentRunning
        ? `the node of ${stateDirectory} has stopped and left nothing behind\n`
        : notRunningText(stateDirectory, await parts.listAgents()),
    );
    return;
  }
  for (const each of remainsBefore) write(`found ${each}\n`);
  const release = await lockRootDirectory(rootDirectory);
  let foreign: readonly ForeignPod[] = [];
  try {
    if (remainsBefore.length > 0) foreign = await terminateAll({ layout, now, parts });
    await removeStaleSocket(socketPath(rootDirectory));
  } finally {
    await release();
  }
  if (remainsBefore.length === 0) return void write(notRunningText(stateDirectory, await parts.listAgents()));
  for (const { directory, why } of foreign) if (directory) write(`left alone ${directory}: ${why}\n`);
  const remainsAfter = await describeRemains(layout, parts, foreign);
  if (remainsAfter.length > 0) throw new NodeFailure('LeftBehind', `not cleaned up: ${remainsAfter.join(', ')}`);
  write(`the node has stopped; its images, logs and saved state stay in ${stateDirectory}\n`);
}

/**
 * Returns a message that names the searched directory and the directories of running agents, one of which may be the
 * intended one.
 */
function notRunningText(stateDirectory: string, sockets: readonly string[]): string {
  const otherAgents = sockets.map((socket) => {
    const root = dirname(socket);
    return basename(root) === 'kubelet' ? `--state-dir ${dirname(root)}` : `--root-dir ${root}`;
  });
  const hint = otherAgents.length === 0 ? '' : `; other agents: ${otherAgents.join(', ')}`;
  return `no "statelet up" is running for ${stateDirectory}${hint}\n`;
}
