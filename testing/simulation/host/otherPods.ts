/** Pods that other agents run: how they are marked, and how they come to be at the runtime. */
import { ContainerConfig, NamespaceMode, PodSandboxConfig } from '../../../cri/generated/runtime.ts';
import type { CallName, RequestOf } from '../../../cri/simulated/faults/callNames.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';

/** A pod that somebody else runs; the labels and annotations are all that tells whose it is. */
export interface OtherPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly cgroup: string;
}

/** On an agent like this one with another root directory. */
const MARK = { 'statelet.io/owner': '/elsewhere/lib@node-1' };
/** The namespace of the pods that come and go: none of the agent's own is in it. */
export const VISITING = 'visiting';

/** The pod of a kubelet on this node, without a mark: an agent takes it over where a manifest names it. */
export const KUBELETS = '7a1e0000-0000-4000-8000-000000000001';
/** That of the agent with another root directory, which stays. */
export const NEIGHBOURS = '7a1e0000-0000-4000-8000-000000000002';

/** Those of pods that come and go, of which a manifest may name one. */
export const VISITORS = [3, 4, 5].map((number) => `7a1e0000-0000-4000-8000-00000000000${number}`);

const pod = (uid: string, name: string, namespace: string, more: Partial<OtherPod> = {}): OtherPod => ({
  uid,
  name,
  namespace,
  annotations: {},
  cgroup: `kubepods/besteffort/pod${uid}`,
  labels: {
    'io.kubernetes.pod.uid': uid,
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': namespace,
  },
  ...more,
});

/** Those that are there from the start. */
export const residents = (cgroups: string): readonly OtherPod[] => [
  // As crictl makes them.
  pod('by-hand', 'by-hand', 'default', { labels: {}, cgroup: 'by-hand' }),
  pod(KUBELETS, 'kubelets', 'default', { cgroup: `${cgroups}/besteffort/pod${KUBELETS}` }),
  pod(NEIGHBOURS, 'neighbour', 'default', { cgroup: `${cgroups}/burstable/podneighbour`, annotations: MARK }),
];

/** One that comes for a while, in the cgroups of the agent's pods. */
export const visitor = (uid: string): OtherPod => pod(uid, `visitor-${uid}`, VISITING, { annotations: MARK });

/** Runs a pod as its agent does; gives the ids of its sandbox and its container. */
export async function runOther(runtime: SimulatedRuntime, other: OtherPod, image: string): Promise<readonly string[]> {
  const { uid, name, namespace, labels, annotations, cgroup } = other;
  const call = <K extends CallName>(called: K, request: RequestOf<K>) =>
    runtime.call(called, request, new AbortController().signal);
  const config = PodSandboxConfig.create({
    metadata: { name, namespace, uid, attempt: 0 },
    labels,
    annotations,
    linux: { cgroupParent: `/${cgroup}`, securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } },
  });
  const { podSandboxId } = await call('runPodSandbox', { config, runtimeHandler: '' });
  const app = ContainerConfig.create({
    metadata: { name: 'app', attempt: 0 },
    image: { image },
    annotations,
    labels: Object.keys(labels).length > 0 ? { ...labels, 'io.kubernetes.container.name': 'app' } : labels,
  });
  const { containerId } = await call('createContainer', { podSandboxId, config: app, sandboxConfig: config });
  await call('startContainer', { containerId });
  return [podSandboxId, containerId];
}
