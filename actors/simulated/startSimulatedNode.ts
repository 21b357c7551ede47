/** Starts a whole node on the simulated runtime, for programs that experiment with pods and for tests of observers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import { inProcessCri } from '../../cri/simulated/inProcessCri.ts';
import type { SimulatedRuntimeOptions } from '../../cri/simulated/options.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { withDefaults } from '../../kubernetes/api/defaults/defaults.ts';
import { readManifest } from '../../kubernetes/api/pods/manifest.ts';
import { toStaticPod } from '../../kubernetes/api/pods/staticPod.ts';
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import { createNode } from '../node/createNode.ts';
import type { NodeAgent } from '../node/nodeAgent.ts';
import type { NodeAgentConfig } from '../node/nodeAgentConfig.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import { SIMULATED_ENDPOINT } from '../store/leftOnDisk.ts';

export interface SimulatedNodeOptions {
  /** Manifests of the initial pods as plain JSON. `apply` replaces them. */
  readonly pods?: readonly object[];
  /** Defaults to the system's clock. The time of a `SimulatedClock` only passes when the clock is advanced. */
  readonly clock?: Clock;
  /** Defaults to `node-1`. */
  readonly nodeName?: string;
  /**
   * Behavior of the runtime. By default, every image can be pulled and calls take as long as those of a real
   * containerd.
   */
  readonly runtime?: Omit<SimulatedRuntimeOptions, 'clock'>;
  /** Overrides of the default configuration, which is a node with four cores and 16 GiB of memory. */
  readonly config?: Partial<Omit<NodeAgentConfig, 'nodeName' | 'rootDir' | 'runtimeEndpoint' | 'sources'>>;
  /** Overrides of other parts of the node, and listeners that observe the node. */
  readonly parts?: Omit<NodeParts, 'cri' | 'clock'>;
}

export interface SimulatedNode {
  readonly agent: NodeAgent;
  readonly runtime: SimulatedRuntime;
  /** Replaces the pods. Pods that are not in the list are terminated. */
  apply(pods: readonly object[]): void;
  /** Stops the agent and deletes its files. */
  stop(): Promise<void>;
}

const SOURCE_NAME = 'program';
const defaultConfig = { capacity: { cpuMillis: 4_000, memoryBytes: 16 * 2 ** 30, pods: 110 }, hostIps: ['192.0.2.1'] };

/** Converts a manifest to the static pod that a node runs. Throws an error that lists all problems of the manifest. */
function createPod(manifest: object, nodeName: string, seenAt: number): Pod {
  const manifestResult = readManifest(manifest);
  if ('problems' in manifestResult)
    throw new TypeError(`startSimulatedNode: ${formatProblems(manifestResult.problems)}`);
  const pod = withDefaults(toStaticPod(manifestResult.pod, { nodeName, source: 'file', origin: SOURCE_NAME, seenAt }));
  const problems = validatePod(pod);
  if (problems.length > 0) throw new TypeError(`startSimulatedNode: ${pod.metadata.name}: ${formatProblems(problems)}`);
  return pod;
}

const formatProblems = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');

/**
 * Starts a node on a simulated runtime, which initially has no containers. Rejects if a pod is invalid. The caller must
 * stop the node.
 */
export async function startSimulatedNode(options: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
  const { clock = systemClock, nodeName = 'node-1' } = options;
  const createPods = (pods: readonly object[]) => pods.map((pod) => createPod(pod, nodeName, clock.now()));
  const initialPods = createPods(options.pods ?? []);
  const directory = await mkdtemp(join(tmpdir(), 'statelet-simulated-'));
  const runtime = createSimulatedRuntime({ clock, images: { anyPullable: true }, ...options.runtime });
  const cri = inProcessCri(runtime);
  const identityConfig = { nodeName, rootDir: directory, runtimeEndpoint: SIMULATED_ENDPOINT, sources: [SOURCE_NAME] };
  const agent = await createNode(
    { ...defaultConfig, ...options.config, ...identityConfig },
    { readImageDisk: async () => runtime.imageDisk(), ...options.parts, cri, clock },
  );
  const publishPods = (pods: readonly Pod[]) =>
    agent.send({ type: 'config.podsListed', source: SOURCE_NAME, pods, at: clock.now() });
  agent.start();
  publishPods(initialPods);
  return {
    agent,
    runtime,
    apply: (pods) => publishPods(createPods(pods)),
    stop: async () => {
      await agent.stop();
      cri.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
