import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readPodList } from '../../../cli/commands/get/readPods.ts';
import { startManagedContainerd } from '../../../cri/managed/containerd/containerd.ts';
import { findManagedContainerdObstacle } from '../../../cri/managed/host.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../../kubernetes/api/schema/status.ts';
import { stateLayout } from '../../../node/host/paths.ts';
import { agentClient } from '../../../socket/client.ts';
import { socketPath } from '../../../socket/socketPath.ts';
import { noAbort, startTestContainerd, type TestContainerd } from './containerd.ts';
import { eventually } from './eventually.ts';
import type { Manifest } from './manifests.ts';
import { type StartOptions, type Statelet, startStatelet } from './statelet.ts';

/** The node's name in every test. The static pod `web` is `web-node`. */
const nodeName = 'node';

interface AgentOptions extends StartOptions {
  readonly args?: readonly string[];
}

/** A node for tests, which has its own directories and runs at most one agent at a time. */
export interface TestNode {
  readonly directory: string;
  readonly manifests: string;
  readonly rootDir: string;
  readonly podLogs: string;
  /** A directory that the pods share with the test. */
  readonly shared: string;
  /** Starts the agent with these additional arguments, and waits until it responds. */
  start(options?: AgentOptions): Promise<Statelet>;
  /** Starts the agent without waiting for it. */
  launch(options?: AgentOptions): Statelet;
  /** Atomically writes a manifest or any text as a file, and returns the path of the file. */
  write(name: string, content: Manifest | string): Promise<string>;
  remove(name: string): Promise<void>;
  pods(): Promise<Pod[]>;
  /** Returns the response of the agent's socket. */
  ask(resource: string): Promise<unknown>;
  /** Waits until `look` accepts the pod of the manifest with this name, and returns the result of `look`. */
  until<T>(what: string, name: string, look: (pod: Pod) => T): Promise<Exclude<T, undefined | false>>;
  /** Waits until all containers of the pod run. */
  running(name: string): Promise<Pod>;
  gone(name: string): Promise<void>;
  /** Waits until the last line of a container run's log is `until`, and returns all lines. */
  log(pod: Pod, container: string, until: string, run?: number): Promise<string[]>;
  /** Stops everything that is still running, by force if it does not stop gracefully. */
  end(): Promise<void>;
}

/** A node whose agent is `up`, with a private containerd. */
export interface UpNode extends TestNode {
  readonly containerdDirectory: string;
}

/** A node whose agent is `run`, on a containerd that runs independently of the agent. */
export interface RunNode extends TestNode {
  readonly runtime: TestContainerd;
}

/** Writes a configuration file with these lines, and returns its path. */
async function writeConfig(directory: string, lines: readonly string[]): Promise<string> {
  const file = join(directory, 'kubelet.yaml');
  const kind = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
  await writeFile(file, `${[...kind, ...lines].join('\n')}\n`);
  return file;
}

/**
 * Creates a node for `up` with these lines of configuration. On a host that cannot run containers, the test fails with
 * a message that names what is missing.
 */
export async function upNode(...lines: readonly string[]): Promise<UpNode> {
  const why = await findManagedContainerdObstacle();
  if (why !== undefined) throw new Error(why);
  const directory = await mkdtemp(join(tmpdir(), 'statelet-up-'));
  // The users of a pod with its own user namespace must be able to reach the root file system of their container.
  await chmod(directory, 0o711);
  const { rootDirectory: rootDir, podLogsDirectory: podLogs, containerdDirectory } = stateLayout(directory);
  const config = lines.length === 0 ? [] : ['--config', await writeConfig(directory, lines)];
  const command = ['up', '--state-dir', directory, ...config];
  const node = await testNode({ directory, rootDir, podLogs, command });
  const end = async () => {
    await node.stop();
    await node.end();
    await mkdir(containerdDirectory, { recursive: true });
    const again = { directory: containerdDirectory, signal: noAbort, pause: (ms: number) => pause(ms) };
    // If a test has failed halfway, containerd is started only to stop it with all its pods.
    if (await node.wasLeft()) await (await startManagedContainerd(again)).stop(noAbort);
    await rm(directory, { recursive: true, force: true });
  };
  return { ...node, containerdDirectory, end };
}

/**
 * Creates a node for `run` with these lines of configuration. The cgroups of its pods are below that of its containerd.
 */
export const runNode = (...lines: readonly string[]): Promise<RunNode> => runNodeIn(tmpdir(), lines);

/** Like `runNode`, with the files of the node and of its containerd in one directory or in one directory each. */
export async function runNodeIn(
  parent: string,
  lines: readonly string[] = [],
  runtimeParent: string = parent,
): Promise<RunNode> {
  const runtime = await startTestContainerd([], { parent: runtimeParent });
  const directory = await mkdtemp(join(parent, 'statelet-run-'));
  const config = await writeConfig(directory, [
    `cgroupRoot: ${runtime.containerd.cgroupParent}`,
    `containerRuntimeEndpoint: ${runtime.containerd.endpoint}`,
    `podLogsDir: ${directory}/log/pods`,
    ...lines,
  ]);
  const [rootDir, podLogs] = [join(directory, 'kubelet'), join(directory, 'log', 'pods')];
  const command = ['run', '--root-dir', rootDir, '--config', config];
  const node = await testNode({ directory, rootDir, podLogs, command });
  const end = async () => {
    await node.end();
    await runtime.end();
    await rm(directory, { recursive: true, force: true });
  };
  return { ...node, runtime, end };
}

async function testNode(place: { directory: string; rootDir: string; podLogs: string; command: string[] }) {
  const { directory, rootDir, podLogs, command } = place;
  const [manifests, shared] = [join(directory, 'manifests'), join(directory, 'shared')];
  await Promise.all([manifests, shared].map((each) => mkdir(each)));
  const agents: Statelet[] = [];
  const ask = (resource: string) => agentClient(socketPath(rootDir)).json(resource);
  const pods = async () => readPodList(await ask('/api/v1/pods'));
  const podOf = async (name: string) => (await pods()).find(({ metadata }) => metadata.name === `${name}-${nodeName}`);
  const until: TestNode['until'] = async (what, name, look) => {
    let last: Pod | undefined;
    try {
      return await eventually(`pod ${name}: ${what}`, async () => {
        last = await podOf(name);
        return last && look(last);
      });
    } catch (cause) {
      const seen = `it was last seen as ${JSON.stringify(last?.status)}`;
      throw new Error(`${cause instanceof Error ? cause.message : String(cause)}; ${seen}`, { cause });
    }
  };
  const launch = ({ args = [], ...options }: AgentOptions = {}) => {
    // Several nodes run on one host at the same time.
    const own = [
      '--pod-manifest-path',
      manifests,
      '--hostname-override',
      nodeName,
      '--port',
      '0',
      '--healthz-port',
      '0',
    ];
    const agent = startStatelet([...command, ...own, ...args], options);
    agents.push(agent);
    return agent;
  };
  return {
    directory,
    manifests,
    rootDir,
    podLogs,
    shared,
    ask,
    pods,
    until,
    launch,
    start: async (options?: AgentOptions) => {
      const agent = launch(options);
      await eventually('the agent answers', () => {
        agent.mustLive();
        return ask('/node');
      });
      return agent;
    },
    write: async (name: string, content: Manifest | string) => {
      const file = join(manifests, `${name}.yaml`);
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      const next = join(directory, `next-${name}`);
      await writeFile(next, text);
      await rename(next, file);
      return file;
    },
    remove: (name: string) => rm(join(manifests, `${name}.yaml`)),
    running: (name: string) => until('runs', name, (pod) => allRun(pod) && pod),
    gone: async (name: string) => {
      await eventually(`pod ${name} is gone`, async () => (await podOf(name)) === undefined);
    },
    log: ({ metadata: { namespace, name, uid } }: Pod, container: string, last: string, run = 0) =>
      eventually(`the log of ${name} ends with ${last}`, async () => {
        const text = await readFile(join(podLogs, `${namespace}_${name}_${uid}`, container, `${run}.log`), 'utf8');
        // Each line starts with its timestamp, stream and partial flag.
        const lines = text
          .trimEnd()
          .split('\n')
          .map((line) => line.split(' ').slice(3).join(' '));
        return lines.at(-1) === last ? lines.slice(0, -1) : undefined;
      }),
    /** Whether the last agent did not exit gracefully. */
    wasLeft: async () => (await agents.at(-1)?.ended) !== 0,
    /** Stops the last agent gracefully, and with it all its pods if it is `up`. */
    stop: async () => {
      const last = agents.at(-1);
      if (last) signalIfThere(last, 'SIGTERM');
      await last?.ended;
    },
    end: async () => {
      for (const agent of agents) signalIfThere(agent, 'SIGKILL', 'group');
      await Promise.all(agents.map(({ ended }) => ended));
    },
  };
}

function signalIfThere(agent: Statelet, signal: NodeJS.Signals, to?: 'group'): void {
  try {
    agent.kill(signal, to);
  } catch {
    // The agent has already exited.
  }
}

/** Whether all containers of a pod are running. */
export function allRun({ status, spec }: Pod): boolean {
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running);
  return running.length === spec.containers.length;
}

/** Returns the status of a pod's container with this name, by default of its first container. */
export function containerOf({ metadata, status }: Pod, name?: string): ContainerStatus {
  const found = (status?.containerStatuses ?? []).find((each) => name === undefined || each.name === name);
  if (found === undefined) throw new Error(`pod ${metadata.name} has no status of container ${name}`);
  return found;
}

/** Returns the container ID and restart count of each container of a pod by name, for comparisons. */
export function identitiesOf({ status }: Pod): Record<string, { id: string | undefined; restarts: number }> {
  const entries = (status?.containerStatuses ?? []).map(({ name, containerID, restartCount }) => {
    return [name, { id: containerID, restarts: restartCount }] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Returns a pod's status without its start time and the transition times of its conditions. After a restart, the agent
 * sets the transition times to its first observation, and takes the start time from the sandbox, which is created a
 * little after the pod was accepted.
 */
export function timelessStatus({ status }: Pod): unknown {
  const { startTime: _, ...timeless } = status ?? {};
  const conditions = (status?.conditions ?? []).map(({ lastTransitionTime: _time, ...condition }) => condition);
  return { ...timeless, conditions };
}
