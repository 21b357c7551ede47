/** A whole node over the simulated runtime in one call: for programs that try pods, and tests of what watches them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../base/clock.ts';
import { inProcessCri } from '../../cri/simulated/inProcess.ts';
import type { SimulatedRuntimeOptions } from '../../cri/simulated/options.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { withDefaults } from '../../kubernetes/api/defaults.ts';
import { readManifest } from '../../kubernetes/api/manifest.ts';
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { staticPod } from '../../kubernetes/api/staticPod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import { createNode } from '../node/createNode.ts';
import type { NodeAgent } from '../node/nodeAgent.ts';
import type { NodeAgentConfig } from '../node/nodeAgentConfig.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import { SIMULATED } from '../store/leftOnDisk.ts';

export interface SimulatedNodeOptions {
  /** The manifests of the pods to run, as JSON has them; `apply` changes them. */
  readonly pods?: readonly object[];
  /** The system's when absent; a `SimulatedClock` stands still until it is moved. */
  readonly clock?: Clock;
  /** `node-1` when absent. */
  readonly nodeName?: string;
  /** How the runtime behaves; absent: every image can be pulled, and calls take as long as a real containerd's. */
  readonly runtime?: Omit<SimulatedRuntimeOptions, 'clock'>;
  /** What is to differ from a node with four cores and 16 GiB. */
  readonly config?: Partial<Omit<NodeAgentConfig, 'nodeName' | 'rootDir' | 'runtimeEndpoint' | 'sources'>>;
  /** What else is to be swapped, and who looks on. */
  readonly parts?: Omit<NodeParts, 'cri' | 'clock'>;
}

export interface SimulatedNode {
  readonly agent: NodeAgent;
  readonly runtime: SimulatedRuntime;
  /** Wants these pods from now on, and no others: the others end. */
  apply(pods: readonly object[]): void;
  /** Stops the agent and removes what it has on disk. */
  stop(): Promise<void>;
}

const SOURCE = 'program';
const defaults = { capacity: { cpuMillis: 4_000, memoryBytes: 16 * 2 ** 30, pods: 110 }, hostIps: ['192.0.2.1'] };

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

/** Starts a node over a runtime that runs no containers; rejects when a pod is not valid. It is to be stopped. */
export async function startSimulatedNode(options: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
  const { clock = systemClock, nodeName = 'node-1' } = options;
  const read = (pods: readonly object[]) => pods.map((pod) => podOf(pod, nodeName, clock.now()));
  const first = read(options.pods ?? []);
  const directory = await mkdtemp(join(tmpdir(), 'statelet-simulated-'));
  const runtime = createSimulatedRuntime({ clock, images: { anyPullable: true }, ...options.runtime });
  const cri = inProcessCri(runtime);
  const own = { nodeName, rootDir: directory, runtimeEndpoint: SIMULATED, sources: [SOURCE] };
  const agent = await createNode({ ...defaults, ...options.config, ...own }, { ...options.parts, cri, clock });
  const want = (pods: readonly Pod[]) =>
    agent.send({ type: 'config.podsListed', source: SOURCE, pods, at: clock.now() });
  agent.start();
  want(first);
  return {
    agent,
    runtime,
    apply: (pods) => want(read(pods)),
    stop: async () => {
      await agent.stop();
      cri.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
