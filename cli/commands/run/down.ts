/** `statelet down`: ends a node that `up` has started, and what of it outlived its agent. */
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
import { drainInTime, patience } from './drain.ts';
import { endAgent } from './endAgent.ts';
import { leftDirectories, removeLeft } from './leftPods.ts';
import { type OwnRuntime, type UpParts, withRuntime } from './up.ts';

export interface DownOptions {
  readonly stateDir?: string;
  /** The root directory and the directory of logs that `up` was given, where they are not below the state directory. */
  readonly rootDir?: string;
  readonly podLogDir?: string;
  /** A second for each pod to end in, whatever its grace. */
  readonly now?: boolean;
}

/** What `down` ends things with; tests give their own. */
export interface DownParts extends Pick<UpParts, 'startNode' | 'startRuntime'> {
  /** What there is of the private containerd of a directory, in words. */
  tracesOf(directory: string): Promise<string[]>;
  /** Where the private containerd of a directory listens. */
  endpointOf(directory: string): string;
  /** The node's name that the pods of a runtime bear, of those that an agent over the root directory has made. */
  nodeNameOf(endpoint: string, rootDirectory: string): Promise<string | undefined>;
  /** Ends the private containerd of a directory where it cannot be started any more. */
  endRuntime(directory: string): Promise<void>;
  /** Returns the sockets of the agents that run on this host. */
  listAgents(): Promise<readonly string[]>;
  readonly write: (text: string) => unknown;
  readonly clock?: Clock;
}

const LOOK_MS = 100;

type Places = ReturnType<typeof stateLayout>;

const podDirectories = (rootDirectory: string): Promise<string[]> =>
  readdir(join(rootDirectory, 'pods')).catch(() => []);

/** Those that the agent has not said to be others'. */
const ownDirectories = async (rootDirectory: string, foreign: readonly ForeignPod[]): Promise<string[]> =>
  (await podDirectories(rootDirectory)).filter((name) => !foreign.some(({ uid }) => uid === name));

/** What the node has left: its containerd with all that belongs to it, and its pods' directories. */
async function leftOf(
  { containerdDirectory, rootDirectory }: Places,
  parts: DownParts,
  foreign: readonly ForeignPod[] = [],
): Promise<string[]> {
  const { length } = await ownDirectories(rootDirectory, foreign);
  const pods = length === 0 ? [] : [`${length} pod ${length === 1 ? 'directory' : 'directories'}`];
  return [...(await parts.tracesOf(containerdDirectory)), ...pods];
}

/** Waits until nothing of any pod is left, or until their graces are long over. */
async function untilGone(agent: AgentPort, rootDirectory: string, clock: Clock): Promise<void> {
  const alarm = createAlarm(clock);
  const start = clock.now();
  let limit = 0;
  for (;;) {
    const pods = agent.pods();
    limit = Math.max(limit, patience(pods));
    const isLeft =
      pods.length > 0 ||
      !agent.node().tags.includes('steady') ||
      (await ownDirectories(rootDirectory, agent.node().foreign)).length > 0;
    if (!isLeft || clock.now() - start > limit) return;
    await alarm.wait(clock.now() + LOOK_MS);
  }
}

/** One run of `down`. */
interface Ending {
  readonly places: Places;
  readonly now: boolean;
  readonly parts: DownParts;
}

/**
 * Has an agent without any pod to run take over what is there: it ends all of it, as it ends what is not wanted; gives
 * what is others'.
 */
async function endPods(
  { now, parts }: Ending,
  { config, simulated = false }: { config: NodeConfig; simulated?: boolean },
): Promise<readonly ForeignPod[]> {
  const { write, clock = systemClock } = parts;
  const log = await createLogger({ logging: config.logging, simulated, level: 'warn', isShort: process.stderr.isTTY });
  // Pods that nobody wants any more have a second to end in.
  const { agent, drain, stop } = await parts.startNode({ config, simulated, ...log, endsAll: !now });
  const endTelling = tellEnds(agent, write);
  try {
    await untilGone(agent, config.rootDirectory, clock);
    const print = (line: string) => write(`${line}\n`);
    await drainInTime({ pods: agent.pods(), drain, clock, print });
    return agent.node().foreign;
  } finally {
    endTelling();
    await stop();
  }
}

function tellEnds(agent: AgentPort, write: DownParts['write']): () => void {
  return agent.subscribe(({ pod, removed }) => {
    if (removed) write(`pod ${displayName(pod.metadata)} terminated\n`);
  });
}

/** Without any source of pods: nothing is wanted any more. */
async function configOf(places: Places, nodeName: string | undefined): Promise<NodeConfig> {
  const flags = nodeName === undefined ? {} : { '--hostname-override': nodeName };
  return (await loadConfig(flags, { defaults: places, checkHost: false })).config;
}

/** Ends the pods on the runtime that they are on, then the private containerd. */
async function endAll(ending: Ending): Promise<readonly ForeignPod[]> {
  const { places, parts } = ending;
  const { containerdDirectory } = places;
  const makers = (await leftDirectories(places)).flatMap(({ maker = [] }) => maker);
  const own = parts.endpointOf(containerdDirectory);
  const outside = makers.find(({ runtime }) => runtime !== SIMULATED && !isSameRuntime(hostFiles, runtime, own));
  const hasOwn = (await parts.tracesOf(containerdDirectory)).length > 0;
  if (outside !== undefined) {
    const foreign = await endOutside(ending, outside);
    if (hasOwn) await parts.endRuntime(containerdDirectory);
    return foreign;
  }
  const [first] = makers;
  if (hasOwn || first?.runtime !== SIMULATED) return endOwn(ending, first);
  return endPods(ending, { config: await configOf(places, first.node), simulated: true });
}

/** Ends the pods of an `up` that was given a runtime; that one goes on. */
async function endOutside(ending: Ending, { node, runtime }: Maker): Promise<readonly ForeignPod[]> {
  const { places, parts } = ending;
  await parts.nodeNameOf(runtime, places.rootDirectory).catch((cause: Error) => {
    const message = `pods below ${places.rootDirectory} run on ${runtime}, which does not answer (${cause.message}): start that runtime, then run "statelet down" again`;
    throw new NodeFailure('RuntimeUnavailable', message, { cause });
  });
  const config = await configOf(places, node);
  const endpoints = { containerRuntimeEndpoint: runtime, imageServiceEndpoint: runtime };
  return endPods(ending, { config: Object.freeze({ ...config, ...endpoints }) });
}

/** Gracefully where the private containerd can still be brought up. */
async function endOwn(ending: Ending, maker: Maker | undefined): Promise<readonly ForeignPod[]> {
  const { places, parts } = ending;
  const { write } = parts;
  const { containerdDirectory, rootDirectory } = places;
  let runtime: OwnRuntime;
  try {
    const onProgress = (step: string) => write(`${step}\n`);
    runtime = await parts.startRuntime(containerdDirectory, { onProgress, asked: unasked, endsAll: true });
  } catch (error) {
    write(`the pods are killed without a grace period: ${lineOf(error)}\n`);
    await parts.endRuntime(containerdDirectory);
    return removeLeft(places, unasked);
  }
  try {
    const nodeName = (await parts.nodeNameOf(runtime.endpoint, rootDirectory)) ?? maker?.node;
    return await endPods(ending, { config: withRuntime(await configOf(places, nodeName), runtime) });
  } finally {
    await runtime.stop();
  }
}

const unasked = new AbortController().signal;

/** What is told in several lines ends with the cause, as the log that it quotes does. */
function lineOf(error: unknown): string {
  const [first = '', ...others] = messageOf(error).trim().split('\n');
  return [first, ...others.slice(-1)].join(' ');
}

function placesOf(stateDirectory: string, { rootDir, podLogDir }: DownOptions): Places {
  return {
    ...stateLayout(stateDirectory),
    ...(rootDir === undefined ? {} : { rootDirectory: resolve(rootDir) }),
    ...(podLogDir === undefined ? {} : { podLogsDirectory: resolve(podLogDir) }),
  };
}

/** Ends the node of a state directory; again, it does nothing. */
export async function down(options: DownOptions, parts: DownParts): Promise<void> {
  const { write, clock = systemClock } = parts;
  const { now = false } = options;
  const stateDirectory = resolve(options.stateDir ?? defaultStateDirectory());
  const places = placesOf(stateDirectory, options);
  const { rootDirectory } = places;
  await assertNoKubelet(rootDirectory);
  const asked = await endAgent(rootDirectory, { write, clock, now });
  const before = await leftOf(places, parts);
  if (before.length === 0 && !existsSync(socketPath(rootDirectory))) {
    write(
      asked
        ? `the node of ${stateDirectory} has stopped and left nothing behind\n`
        : nothingRuns(stateDirectory, await parts.listAgents()),
    );
    return;
  }
  for (const each of before) write(`found ${each}\n`);
  const release = await lockRootDirectory(rootDirectory);
  let foreign: readonly ForeignPod[] = [];
  try {
    if (before.length > 0) foreign = await endAll({ places, now, parts });
    await removeStaleSocket(socketPath(rootDirectory));
  } finally {
    await release();
  }
  if (before.length === 0) return void write(nothingRuns(stateDirectory, await parts.listAgents()));
  for (const { directory, why } of foreign) if (directory) write(`left alone ${directory}: ${why}\n`);
  const after = await leftOf(places, parts, foreign);
  if (after.length > 0) throw new NodeFailure('LeftBehind', `not cleaned up: ${after.join(', ')}`);
  write(`the node has stopped; its images, logs and saved state stay in ${stateDirectory}\n`);
}

/** Names the directory that was searched, and those of the agents that do run, because one of them may be meant. */
function nothingRuns(stateDirectory: string, sockets: readonly string[]): string {
  const others = sockets.map((socket) => {
    const root = dirname(socket);
    return basename(root) === 'kubelet' ? `--state-dir ${dirname(root)}` : `--root-dir ${root}`;
  });
  const hint = others.length === 0 ? '' : `; other agents: ${others.join(', ')}`;
  return `no "statelet up" is running for ${stateDirectory}${hint}\n`;
}
