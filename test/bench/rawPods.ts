import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cri } from '../../cri/client/calls.ts';
import { containerConfig } from '../../cri/config/containerConfig.ts';
import { buildEnvironment } from '../../cri/config/environment.ts';
import { sandboxConfig } from '../../cri/config/sandboxConfig.ts';
import type { ContainerConfig, PodSandboxConfig } from '../../cri/generated/runtime.ts';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { createTerminationLog, preparePodDirectory } from '../../host/pods/podDirectory.ts';
import { noAbort } from '../e2e/support/containerd.ts';
import { plainFacts } from '../e2e/support/facts.ts';
import { cgroupFacts } from '../fakes/cgroups.ts';
import { nodeName, podNamed } from './manifests.ts';

const options = { signal: noAbort };
const GRACE_SECONDS = 30n;
const EMPTY_DIR = 'kubernetes.io/empty-dir';

/** A pod that bare calls can create, because everything that it needs on disk exists. */
export interface RawPod {
  readonly sandbox: PodSandboxConfig;
  /** Returns the container's configuration for an attempt. */
  readonly container: (attempt: number) => ContainerConfig;
}

/** A pod that bare calls have created. */
export interface RunningRawPod extends RawPod {
  readonly sandboxId: string;
  readonly containerId: string;
}

/** Creates pods with bare CRI calls, which contain the same configuration as the calls of the agent. */
export interface RawPods {
  prepare(names: readonly string[]): Promise<RawPod[]>;
  /** Removes what `prepare` has created. */
  tidy(): Promise<void>;
}

export async function rawPods(cri: Cri, place: { directory: string; cgroupRoot: string }): Promise<RawPods> {
  const node = await nodeDescription(place);
  const { image } = await cri.imageStatus(
    {
      image: { image: BUSYBOX_IMAGE, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
      verbose: false,
    },
    options,
  );
  const imageRef = image?.id ?? '';
  return {
    prepare: (names) => Promise.all(names.map((name) => prepare(name, node, imageRef))),
    tidy: () => rm(place.directory, { recursive: true, force: true }),
  };
}

/** Calls RunPodSandbox, CreateContainer and StartContainer. */
export async function startRawPod(cri: Cri, pod: RawPod): Promise<RunningRawPod> {
  const { podSandboxId } = await cri.runPodSandbox({ config: pod.sandbox, runtimeHandler: '' }, options);
  const containerId = await startRawContainer(cri, { ...pod, sandboxId: podSandboxId }, 0);
  return { ...pod, sandboxId: podSandboxId, containerId };
}

/** Calls CreateContainer and StartContainer. */
export async function startRawContainer(
  cri: Cri,
  { sandboxId, sandbox, container }: RawPod & { sandboxId: string },
  attempt: number,
): Promise<string> {
  const request = { podSandboxId: sandboxId, config: container(attempt), sandboxConfig: sandbox };
  const { containerId } = await cri.createContainer(request, options);
  await cri.startContainer({ containerId }, options);
  return containerId;
}

/** Calls StopContainer, StopPodSandbox and RemovePodSandbox. */
export async function removeRawPod(cri: Cri, { sandboxId, containerId }: RunningRawPod): Promise<void> {
  await cri.stopContainer({ containerId, timeout: GRACE_SECONDS }, options);
  await cri.stopPodSandbox({ podSandboxId: sandboxId }, options);
  await cri.removePodSandbox({ podSandboxId: sandboxId }, options);
}

/** Processes each item, at most `parallel` at a time. */
export async function inParallel<In, Out>(
  items: readonly In[],
  parallel: number,
  act: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const queue = items.values();
  const done: Out[] = [];
  const worker = async () => {
    for (const item of queue) done.push(await act(item));
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return done;
}

async function prepare(name: string, node: NodeDescription, imageRef: string): Promise<RawPod> {
  const pod = podNamed(name, join(node.rootDir, 'manifests'));
  const { uid } = pod.metadata;
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('the manifest has no container');
  const layout = createLayout(node);
  for (const directory of [layout.podDir(uid), layout.podLogDir(pod.metadata)])
    await mkdir(directory, { recursive: true });
  await preparePodDirectory({ pod, layout, signal: noAbort });
  const data = layout.volumeDir(uid, EMPTY_DIR, 'data');
  await mkdir(data, { recursive: true });
  await writeFile(layout.hostsFile(uid), '127.0.0.1\tlocalhost\n');
  const terminationLog = await createTerminationLog(layout, { uid, container: container.name, run: '0' });
  const common = {
    pod,
    container,
    imageRef,
    volumes: { data: { kind: 'path' as const, hostPath: data } },
    environment: buildEnvironment({ pod, container, sandboxIps: [], node }),
    terminationLog,
    node,
  };
  return { sandbox: sandboxConfig(pod, 0, node), container: (attempt) => containerConfig({ ...common, attempt }) };
}

async function nodeDescription({
  directory,
  cgroupRoot,
}: {
  directory: string;
  cgroupRoot: string;
}): Promise<NodeDescription> {
  return {
    nodeName,
    ...(await plainFacts(directory)),
    podLogsDir: join(directory, 'log', 'pods'),
    owner: `${directory}@raw`,
    runtimeEndpoint: 'simulated',
    cgroupRoot,
    cgroups: cgroupFacts,
  };
}
