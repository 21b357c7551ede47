/** `run --take-over`: the pods that another kubelet has left below a root directory become this agent's, to be ended or gone on with. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, makerOf, ownedByFact, SIMULATED, takenOver } from '../actors/store/leftOnDisk.ts';
import type { Cri } from '../cri/calls.ts';
import { connectCri } from '../cri/grpc.ts';
import { ownerMark } from '../cri/labels.ts';
import { observedPods } from '../cri/observe.ts';
import { mountsUnder } from '../host/files/mountinfo.ts';
import { createLayout } from '../host/pods/layout.ts';
import type { NodeConfig } from '../node/config/nodeConfig.ts';
import { kubeletsOver } from '../node/kubelets.ts';
import { messageOf, NodeFailure } from '../pod/failure.ts';
import { type ForeignPod, type ObservedPod, UNKNOWN } from '../pod/lifecycle/observed.ts';

/** A pod that would be taken over, with what there is of it on this host. */
interface Taken extends ForeignPod {
  readonly running: number;
  readonly mounts: readonly string[];
  readonly logs: string | undefined;
  /** How many processes are in its cgroup. */
  readonly processes: number;
}

interface TakeOver {
  readonly pods: readonly Taken[];
  /** Why it is refused, a sentence each. */
  readonly obstacles: readonly string[];
}

const ANSWER_MS = 10_000;

/** Looks at what a take-over would be about, and changes nothing. */
export async function planTakeOver(config: NodeConfig): Promise<TakeOver> {
  const { rootDirectory, podLogsDirectory, nodeName, containerRuntimeEndpoint } = config;
  const place = {
    rootDir: rootDirectory,
    podLogsDir: podLogsDirectory,
    nodeName,
    runtimeEndpoint: containerRuntimeEndpoint,
  };
  const [foreign, processes, runtime, kubelets, logs] = await Promise.all([
    takenOver(place, await ownedByFact(rootDirectory)),
    processesByPod(),
    listRuntime(config),
    kubeletsOver(rootDirectory),
    readdir(podLogsDirectory).catch(() => []),
  ]);
  const layout = createLayout(place);
  const { signal } = new AbortController();
  const owner = ownerMark(makerOf(place).root, nodeName);
  const theirs = foreign.filter(({ uid }) => !runtime.pods.get(uid)?.sandboxes.some((each) => each.owner === owner));
  const pods = await Promise.all(
    theirs.map(async (pod) => {
      const folder = logs.find((name) => identityOf(name).uid === pod.uid);
      return {
        ...withObserved(pod, runtime.pods.get(pod.uid)),
        mounts: (await mountsUnder(layout.podDir(pod.uid), signal)).map(({ path }) => path),
        logs: folder && join(podLogsDirectory, folder),
        processes: processes.get(pod.uid.replaceAll('-', '_')) ?? 0,
      };
    }),
  );
  return { pods, obstacles: [...kubelets, ...runtime.obstacles, ...pods.flatMap((pod) => obstacleOf(pod, config))] };
}

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
export function planText({ pods, obstacles }: TakeOver, { rootDirectory }: NodeConfig): string {
  const refused = obstacles.map((why) => `a take-over would be refused: ${why}\n`).join('');
  if (pods.length === 0) return `no pods to take over below ${rootDirectory}\n${refused}`;
  const head = `${counted(pods.length, 'pod', 'pods')} below ${rootDirectory} would be taken over. Pods whose UID is in a manifest would be adopted as they run. The others would be terminated with a grace period of 1 s, and everything listed below would be removed.\n`;
  return `${head}${pods.map(podText).join('')}${refused}`;
}

function podText(pod: Taken): string {
  const { why, directory = '', sandboxes, running, mounts, logs, processes } = pod;
  return [
    `\n${nameOf(pod)}`,
    `  not ours because    ${why}`,
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
  namespace === UNKNOWN ? uid : `${namespace}/${name} (${uid})`;

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
