/** A whole node over the simulated runtime in one call: for programs that try pods, and tests of what watches them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerMark } from '../../cri/labels.ts';
import type { CgroupFacts, NodeFacts } from '../../cri/nodeFacts.ts';
import { inProcessCri } from '../../cri/simulated/inProcess.ts';
import type { SimulatedRuntimeOptions } from '../../cri/simulated/options.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { withDefaults } from '../../pod/api/defaults.ts';
import { readManifest } from '../../pod/api/manifest.ts';
import type { Problem } from '../../pod/api/problem.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { staticPod } from '../../pod/api/staticPod.ts';
import { validatePod } from '../../pod/api/validate.ts';
import type { NodeAgentConfig } from '../agentConfig.ts';
import { type Clock, systemClock } from '../clock.ts';
import { createNodeAgent, type NodeAgent, type NodeAgentOptions } from '../createNodeAgent.ts';
import { nodeServices } from '../nodeServices.ts';
import { openNodeStore } from '../store/durableFacts.ts';
import { SIMULATED } from '../store/leftOnDisk.ts';

export interface SimulatedNodeOptions extends Omit<NodeAgentOptions, 'clock'> {
  /** The manifests of the pods to run, as JSON has them; `apply` changes them. */
  readonly pods?: readonly object[];
  /** The system's when absent; a `SimulatedClock` stands still until it is moved. */
  readonly clock?: Clock;
  /** `node-1` when absent. */
  readonly nodeName?: string;
  /** How the runtime behaves; absent: every image can be pulled, and calls take as long as a real containerd's. */
  readonly runtime?: Omit<SimulatedRuntimeOptions, 'clock'>;
  /** What is to differ from a node with four cores and 16 GiB. */
  readonly config?: Partial<Omit<NodeAgentConfig, 'nodeName' | 'owner' | 'sources'>>;
}

export interface SimulatedNode {
  readonly agent: NodeAgent;
  readonly runtime: SimulatedRuntime;
  /** Wants these pods from now on, and no others: the others end. */
  apply(pods: readonly object[]): void;
  /** Stops the agent and removes what it has on disk. */
  stop(): Promise<void>;
}

const HOST_IPS = ['192.0.2.1'];
const SOURCE = 'program';
const GIB = 2 ** 30;

/** The static pod that a node runs of a manifest; throws with all that is wrong with it. */
function podOf(manifest: object, nodeName: string, seenAt: number): Pod {
  const read = readManifest(manifest);
  if ('problems' in read) throw new TypeError(`startSimulatedNode: ${textOf(read.problems)}`);
  const pod = withDefaults(staticPod(read.pod, { nodeName, source: 'file', origin: SOURCE, seenAt }));
  const problems = validatePod(pod);
  if (problems.length > 0) throw new TypeError(`startSimulatedNode: ${pod.metadata.name}: ${textOf(problems)}`);
  return pod;
}

const textOf = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');

/** The simulated runtime has none; what a pod is told of them is as on a kubelet's own host. */
const noCgroups: CgroupFacts = {
  ...{ perQos: false, version: 'v2', countsSwap: false, killsWhole: true },
  ...{ cfsQuota: true, cfsPeriod: 100_000, podPids: -1, pageSizes: [] },
};

function factsOf(directory: string, nodeName: string): NodeFacts {
  return {
    nodeName,
    rootDir: directory,
    podLogsDir: join(directory, 'log'),
    runtimeEndpoint: SIMULATED,
    owner: ownerMark(directory, nodeName),
    cgroupRoot: '',
    cgroupDriver: 'cgroupfs',
    cgroups: noCgroups,
    hostIps: HOST_IPS,
    resolvConf: { servers: [], searches: [], options: [] },
    clusterDns: [],
    clusterDomain: '',
    memoryCapacityBytes: 16 * GIB,
    cpuCount: 4,
    canLowerOomScoreAdj: false,
    seccompDefault: false,
    podDirectory: (uid) => join(directory, 'pods', uid),
  };
}

/** Starts a node over a runtime that runs no containers; rejects when a pod is not valid. It is to be stopped. */
export async function startSimulatedNode(options: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
  const { clock = systemClock, nodeName = 'node-1', onError = () => {}, ...rest } = options;
  const read = (pods: readonly object[]) => pods.map((pod) => podOf(pod, nodeName, clock.now()));
  const first = read(options.pods ?? []);
  const directory = await mkdtemp(join(tmpdir(), 'statelet-simulated-'));
  const node = factsOf(directory, nodeName);
  const { store, durable } = await openNodeStore(directory);
  const runtime = createSimulatedRuntime({ clock, images: { anyPullable: true }, ...options.runtime });
  const cri = inProcessCri(runtime);
  const services = nodeServices({ cri, clock, node, store, durable, onError });
  const capacity = { cpuMillis: 4_000, memoryBytes: node.memoryCapacityBytes, pods: 110 };
  const { owner } = node;
  const agent = createNodeAgent(
    { nodeName, owner, hostIps: HOST_IPS, capacity, ...options.config, sources: [SOURCE] },
    services,
    {
      ...rest,
      clock,
      onError,
    },
  );
  const want = (pods: readonly Pod[]) =>
    agent.tell({ type: 'config.podsListed', source: SOURCE, pods, at: clock.now() });
  agent.start();
  want(first);
  return {
    agent,
    runtime,
    apply: (pods) => want(read(pods)),
    stop: async () => {
      agent.stop();
      await store.close();
      cri.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
