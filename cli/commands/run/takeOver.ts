/** `run --take-over`: the pods that another kubelet has left below a root directory become this agent's, to be ended or gone on with. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findPodsToTakeOver,
  identityOf,
  listOwnedUids,
  markOwner,
  SIMULATED,
} from '../../../actors/store/leftOnDisk.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { connectCri } from '../../../cri/client/grpc.ts';
import { observedPods } from '../../../cri/client/observe.ts';
import { ownerMark } from '../../../cri/config/labels.ts';
import { mountsUnder } from '../../../host/files/mountinfo.ts';
import { createLayout, type Layout } from '../../../host/pods/layout.ts';
import { type ForeignPod, type ObservedPod, UNKNOWN_NAMESPACE } from '../../../kubernetes/lifecycle/observed.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import { describeRunningKubelets } from '../../../node/start/runningKubelets.ts';

/** A pod that would be taken over, with what there is of it on this host. */
interface Taken extends ForeignPod {
  readonly running: number;
  readonly mounts: readonly string[];
  readonly logs: string | undefined;
  /** How many processes are in its cgroup. */
  readonly processes: number;
  /** Whether the API server has it for the node; absent: there is none, or it has not said. */
  readonly isBound?: boolean;
}

interface TakeOver {
  readonly pods: readonly Taken[];
  /** Why nobody knows which pods the API server has for the node. */
  readonly unknown?: string | undefined;
  /** Why it is refused, a sentence each. */
  readonly obstacles: readonly string[];
}

interface Found {
  readonly config: NodeConfig;
  readonly layout: Layout;
  readonly runtime: ReadonlyMap<string, ObservedPod>;
  readonly processes: ReadonlyMap<string, number>;
  readonly logs: readonly string[];
  readonly bound: Bound;
}

/** Which pods the API server has for the node; or why that is not known. */
interface Bound {
  readonly uids?: ReadonlySet<string>;
  readonly unknown?: string;
}

const ANSWER_MS = 10_000;

/** Looks at what a take-over would be about, and changes nothing; it asks no cluster any longer once it is asked to stop. */
export async function planTakeOver(config: NodeConfig, asked = new AbortController().signal): Promise<TakeOver> {
  const { rootDirectory, podLogsDirectory, nodeName, containerRuntimeEndpoint } = config;
  const place = {
    rootDir: rootDirectory,
    podLogsDir: podLogsDirectory,
    nodeName,
    runtimeEndpoint: containerRuntimeEndpoint,
  };
  const [foreign, processes, runtime, kubelets, logs, bound] = await Promise.all([
    findPodsToTakeOver(place, await listOwnedUids(rootDirectory)),
    processesByPod(),
    listRuntime(config),
    describeRunningKubelets(rootDirectory),
    readdir(podLogsDirectory).catch(() => []),
    askCluster(config, asked),
  ]);
  const describe = describer({ config, layout: createLayout(place), runtime: runtime.pods, processes, logs, bound });
  const owner = ownerMark(markOwner(place).root, nodeName);
  const theirs = foreign.filter(({ uid }) => !runtime.pods.get(uid)?.sandboxes.some((each) => each.owner === owner));
  const pods = await Promise.all(theirs.map(describe));
  const { unknown } = bound;
  return {
    pods,
    unknown,
    obstacles: [...kubelets, ...runtime.obstacles, ...pods.flatMap((pod) => obstacleOf(pod, config))],
  };
}

/** Which pods the API server has for the node, if there is one and it answers: without that nothing of them is ended. */
async function askCluster({ cluster, nodeName }: NodeConfig, signal: AbortSignal): Promise<Bound> {
  if (cluster === undefined) return {};
  try {
    // Most nodes belong to no cluster: what speaks with an API server is loaded for those that do.
    const { fetchBoundPodUids: boundPods } = await import('../../../node/start/fetchBoundPodUids.ts');
    return { uids: await boundPods(cluster, nodeName, { signal }) };
  } catch (error) {
    return { unknown: messageOf(error) };
  }
}

/** Puts together what there is of a pod on this host. */
const describer =
  ({ config, layout, runtime, processes, logs, bound }: Found) =>
  async (pod: ForeignPod): Promise<Taken> => {
    const folder = logs.find((name) => identityOf(name).uid === pod.uid);
    return {
      ...withObserved(pod, runtime.get(pod.uid)),
      mounts: (await mountsUnder(layout.podDir(pod.uid), new AbortController().signal)).map(({ path }) => path),
      logs: folder && join(config.podLogsDirectory, folder),
      processes: processes.get(pod.uid.replaceAll('-', '_')) ?? 0,
      ...(bound.uids ? { isBound: bound.uids.has(pod.uid) } : {}),
    };
  };

/** What the runtime knows of it goes before what its files tell. */
function withObserved(pod: ForeignPod, observed: ObservedPod | undefined) {
  return {
    ...pod,
    ...(observed ? { namespace: observed.namespace, name: observed.name } : {}),
    sandboxes: observed?.sandboxes.map(({ id }) => id) ?? [],
    running: observed?.containers.filter(({ state }) => state === 'running').length ?? 0,
  };
}

/** What runs and is not this runtime's cannot be stopped: its volumes must not be taken from under it. */
function obstacleOf(pod: Taken, { containerRuntimeEndpoint }: NodeConfig): string[] {
  if (pod.processes === 0 || pod.sandboxes.length > 0) return [];
  return [
    `${nameOf(pod)}: ${counted(pod.processes, 'process', 'processes')} in its cgroup, but no sandbox on ${containerRuntimeEndpoint}: another runtime may be running it`,
  ];
}

/** The plan as `--take-over=list` prints it. */
export function planText({ pods, obstacles, unknown }: TakeOver, { rootDirectory, cluster }: NodeConfig): string {
  const refused = obstacles.map((why) => `a take-over would be refused: ${why}\n`).join('');
  if (pods.length === 0) return `no pods to take over below ${rootDirectory}\n${refused}`;
  const wanted = cluster === undefined ? 'is in a manifest' : 'is in a manifest or at the API server';
  const head = `${counted(pods.length, 'pod', 'pods')} below ${rootDirectory} would be taken over. Pods whose UID ${wanted} would be adopted as they run. The others would be terminated with a grace period of 1 s, and everything listed below would be removed.\n`;
  const unasked =
    unknown === undefined ? '' : `\nthe API server did not say which pods it has for this node: ${unknown}\n`;
  return `${head}${pods.map(podText).join('')}${unasked}${refused}`;
}

function podText(pod: Taken): string {
  const { why, directory = '', sandboxes, running, mounts, logs, processes, isBound } = pod;
  return [
    `\n${nameOf(pod)}`,
    `  not ours because    ${why}`,
    ...(isBound === undefined ? [] : [`  at the API server   ${isBound ? 'yes' : 'no'}`]),
    `  sandboxes           ${sandboxes.length}, with ${counted(running, 'running container', 'running containers')}`,
    `  directory           ${directory}`,
    ...mounts.map((mount) => `  mount               ${mount}`),
    ...(logs === undefined ? [] : [`  logs                ${logs}`]),
    `  processes           ${processes} in its cgroup, which would be killed too`,
    '',
  ].join('\n');
}

/** Throws a `NodeFailure` that names what stands in the way of a take-over; then nothing has been changed. */
export function refuseTakeOver({ obstacles }: TakeOver): void {
  if (obstacles.length > 0) throw new NodeFailure('TakeOverRefused', `nothing was taken over: ${obstacles.join('; ')}`);
}

/** `kube-system/etcd (UID)`, or the UID alone. */
export const nameOf = ({ namespace, name, uid }: ForeignPod): string =>
  namespace === UNKNOWN_NAMESPACE ? uid : `${namespace}/${name} (${uid})`;

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

async function listRuntime(
  config: NodeConfig,
): Promise<{ pods: ReadonlyMap<string, ObservedPod>; obstacles: readonly string[] }> {
  const { containerRuntimeEndpoint: endpoint } = config;
  if (endpoint === SIMULATED) return { pods: new Map(), obstacles: [] };
  const cri: Cri = connectCri({ runtimeEndpoint: endpoint, requestTimeoutMs: ANSWER_MS });
  try {
    const options = { signal: new AbortController().signal };
    const [{ items }, { containers }] = await Promise.all([
      cri.listPodSandbox({ filter: undefined }, options),
      cri.listContainers({ filter: undefined }, options),
    ]);
    return { pods: observedPods(items, containers), obstacles: [] };
  } catch (error) {
    const message = messageOf(error);
    return { pods: new Map(), obstacles: [`cannot list the pods of the runtime ${endpoint}: ${message}`] };
  } finally {
    cri.close();
  }
}

/** How many processes are in the cgroups of pods, by uid with underscores; whoever made these. */
async function processesByPod(): Promise<ReadonlyMap<string, number>> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const counts = new Map<string, number>();
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
    const uids = new Set(Array.from(text.matchAll(/[/-]pod([\w-]+?)(?:\.slice)?(?=[/\n])/g), ([, uid = '']) => uid));
    for (const uid of uids) {
      const key = uid.replaceAll('-', '_');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}
