/** `statelet down`: ends a node that `up` has started, and what of it outlived its agent. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '../actors/clock.ts';
import { createAlarm } from '../actors/feeds/alarm.ts';
import { NodeFailure } from '../pod/failure.ts';
import type { ForeignPod } from '../pod/observed.ts';
import { shownName } from '../pod/shownName.ts';
import type { AgentPort } from '../server/agent.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { drainInTime, patience } from './drain.ts';
import { endAgent } from './endAgent.ts';
import { claimRootDirectory } from './lock.ts';
import { createLogger } from './logger.ts';
import { defaultStateDirectory, stateLayout } from './places.ts';
import { readSettings } from './settings.ts';
import { type OwnRuntime, type UpParts, withRuntime } from './up.ts';

export interface DownOptions {
  readonly stateDir?: string;
}

/** What `down` ends things with; tests give their own. */
export interface DownParts extends Pick<UpParts, 'startNode' | 'startRuntime'> {
  /** What there is of the private containerd of a directory, in words. */
  tracesOf(directory: string): Promise<string[]>;
  /** The node's name that the pods of a runtime bear, of those that an agent over the root directory has made. */
  nodeNameOf(endpoint: string, rootDirectory: string): Promise<string | undefined>;
  /** Ends the private containerd of a directory where it cannot be started any more. */
  endRuntime(directory: string): Promise<void>;
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
      agent.node().state !== 'running' ||
      (await ownDirectories(rootDirectory, agent.node().foreign)).length > 0;
    if (!isLeft || clock.now() - start > limit) return;
    await alarm.wait(clock.now() + LOOK_MS);
  }
}

/** Has an agent without any pod to run take over what is there: it ends all of it, as it ends what is not wanted; gives what is others'. */
async function endPods(config: NodeConfig, parts: DownParts): Promise<readonly ForeignPod[]> {
  const { write, clock = systemClock } = parts;
  const logger = await createLogger({ logging: config.logging, terminal: true, simulated: false, level: 'warn' });
  const { agent, drain, stop } = await parts.startNode({ config, simulated: false, logger, endsAll: true });
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
    if (removed) write(`ended pod ${shownName(pod.metadata)}\n`);
  });
}

/** Without any source of pods: nothing is wanted any more. */
async function configOf(places: Places, runtime: OwnRuntime, parts: DownParts): Promise<NodeConfig> {
  const nodeName = await parts.nodeNameOf(runtime.endpoint, places.rootDirectory);
  const flags = nodeName === undefined ? {} : { '--hostname-override': nodeName };
  const { config } = await readSettings(flags, { defaults: places, checkHost: false });
  return withRuntime(config, runtime);
}

/** Ends the pods gracefully where their runtime can still be brought up, then the runtime. */
async function endAll(places: Places, parts: DownParts): Promise<readonly ForeignPod[]> {
  const { write } = parts;
  const { containerdDirectory } = places;
  let runtime: OwnRuntime;
  try {
    runtime = await parts.startRuntime(containerdDirectory, (step) => write(`${step}\n`));
  } catch (error) {
    write(`the pods end without grace: ${error instanceof Error ? error.message : String(error)}\n`);
    await parts.endRuntime(containerdDirectory);
    return [];
  }
  try {
    return await endPods(await configOf(places, runtime, parts), parts);
  } finally {
    await runtime.stop();
  }
}

/** Ends the node of a state directory; again, it does nothing. */
export async function down(options: DownOptions, parts: DownParts): Promise<void> {
  const { write, clock = systemClock } = parts;
  const stateDirectory = resolve(options.stateDir ?? defaultStateDirectory());
  const places = stateLayout(stateDirectory);
  const asked = await endAgent(places.rootDirectory, write, clock);
  const before = await leftOf(places, parts);
  if (before.length === 0) {
    write(
      asked ? 'it has ended, and nothing of it is left\n' : `nothing of "statelet up" runs for ${stateDirectory}\n`,
    );
    return;
  }
  for (const each of before) write(`found ${each}\n`);
  const release = await claimRootDirectory(places.rootDirectory);
  let foreign: readonly ForeignPod[] = [];
  try {
    foreign = await endAll(places, parts);
  } finally {
    await release();
  }
  for (const { directory, why } of foreign) if (directory) write(`left alone ${directory}: ${why}\n`);
  const after = await leftOf(places, parts, foreign);
  if (after.length > 0) throw new NodeFailure('LeftBehind', `these could not be ended: ${after.join(', ')}`);
  write(`ended all of it; images, logs and what the node knows stay in ${stateDirectory}\n`);
}
