/**
 * A node agent in this process on a private containerd. Its pods come through the source port in the form that an API
 * server uses.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createAlarm } from '../../../actors/alarm.ts';
import { createNode } from '../../../actors/node/createNode.ts';
import { readRuntimeClasses } from '../../../actors/services/sandboxes/runtimeClasses.ts';
import { podsOfAgent } from '../../../actors/store/leftOnDisk.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { type Hierarchy, readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import { PodCgroups } from '../../../host/cgroup/podCgroups.ts';
import { callSystemd } from '../../../host/cgroup/systemd.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { nodeResources } from '../../../node/config/compile/nodeResources.ts';
import { settingValues } from '../../../node/config/settings/settingValues.ts';
import { readCgroupFacts } from '../../../node/host/cgroups.ts';
import { startTestContainerd, type TestContainerd } from './containerd.ts';
import { eventually } from './eventually.ts';
import { plainFacts } from './facts.ts';
import { allRun } from './node.ts';

export interface SourceNode {
  readonly runtime: TestContainerd;
  readonly hierarchies: readonly Hierarchy[];
  /** Directory of the RuntimeClasses. */
  readonly classes: string;
  /** Errors thrown by services. */
  readonly errors: readonly string[];
  /** Notifications about the node and its pods, such as `web: NetworkNotReady: …`. */
  readonly notifications: readonly string[];
  /** Allocatable CPU of the node in millicores. */
  readonly cpuMillis: number;
  /** Makes the source want exactly these pods in these versions. */
  want(...pods: readonly Pod[]): void;
  /** Waits until `look` accepts the pod, and returns the result of `look`. */
  until<T>(what: string, name: string, look: (pod: Pod) => T): Promise<Exclude<T, undefined | false>>;
  /** Waits until all containers of the pod run. */
  running(name: string): Promise<Pod>;
  gone(name: string): Promise<void>;
  /** Stops all pods, and then containerd and everything else. */
  end(): Promise<void>;
}

const nodeName = 'node';
/** Time limit in milliseconds, well below Jest's limit for the end of a file. */
const DRAIN_MS = 60_000;

/** Starts a node whose runtime has these handlers in addition to `runc`, with the same behavior. */
export async function sourceNode(handlers: readonly string[] = []): Promise<SourceNode> {
  const runtime = await startTestContainerd(handlers);
  try {
    return await nodeOver(runtime);
  } catch (error) {
    await runtime.end();
    throw error;
  }
}

async function nodeOver(runtime: TestContainerd): Promise<SourceNode> {
  const { cri, directory, containerd } = runtime;
  const hierarchies = await readHierarchies();
  const classes = join(directory, 'classes');
  await mkdir(classes);
  const config = await configOf(join(directory, 'kubelet'), containerd, hierarchies);
  const errors: string[] = [];
  const notifications: string[] = [];
  const onError = (source: string, error: unknown) => void errors.push(`${source}: ${String(error)}`);
  const cgroups = new PodCgroups({
    parentCgroup: config,
    rules: config.cgroups,
    enforcedLimits: config.capacity,
    hierarchies,
    systemd: callSystemd,
    listOwnPods: () => podsOfAgent(config),
    wait: (ms, signal) => createAlarm(systemClock, signal).waitUntil(systemClock.now() + ms),
    onWarning: (message) => onError('cgroups', message),
  });
  const wanted = (pods: readonly Pod[]) =>
    ({ type: 'config.podsListed', source: 'api', pods, at: systemClock.now() }) as const;
  const agent = await createNode(config, {
    cri,
    cgroups,
    onError,
    readClasses: () => readRuntimeClasses(classes),
    events: ({ involved, reason, message }) => void notifications.push(`${involved.name}: ${reason}: ${message}`),
    feeds: { sources: (send) => send(wanted([])) },
  });
  agent.start();
  const podNamed = (name: string) => agent.pods().find(({ metadata }) => metadata.name === name);
  const until: SourceNode['until'] = (what, name, look) =>
    eventually(`pod ${name}: ${what}`, () => {
      const pod = podNamed(name);
      return pod && look(pod);
    });
  return {
    runtime,
    hierarchies,
    classes,
    errors,
    notifications,
    cpuMillis: config.capacity.cpuMillis,
    want: (...pods) => agent.send(wanted(pods)),
    until,
    running: (name) => until('runs', name, (pod) => allRun(pod) && pod),
    gone: async (name) => {
      await eventually(`pod ${name} is gone`, () => podNamed(name) === undefined);
    },
    end: async () => {
      try {
        await Promise.race([agent.drain(), rejectAfterLimit()]);
      } finally {
        await agent.stop();
        await runtime.end();
      }
    },
  };
}

/**
 * Rejects after the time limit, because a pod left by a failed test may have a long grace period. Such a pod is stopped
 * with its containerd.
 */
async function rejectAfterLimit(): Promise<never> {
  await pause(DRAIN_MS, undefined, { ref: false });
  throw new Error(`the pods did not end in ${DRAIN_MS} ms`);
}

async function configOf(
  rootDir: string,
  { cgroupParent: cgroupRoot, endpoint: runtimeEndpoint }: TestContainerd['containerd'],
  hierarchies: readonly Hierarchy[],
) {
  const { podDirectory: _, ...facts } = await plainFacts(rootDir);
  return {
    ...facts,
    nodeName,
    cgroupRoot,
    runtimeEndpoint,
    podLogsDir: join(rootDir, 'logs'),
    sources: ['api'],
    cgroups: await readCgroupFacts(nodeResources(settingValues({ flags: {} })), hierarchies),
  };
}
