/** Pods of other agents: their labels and annotations, and how they are started. */
import { ContainerConfig, NamespaceMode, PodSandboxConfig } from '../../../cri/generated/runtime.ts';
import type { CallName, RequestOf } from '../../../cri/simulated/faults/callNames.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';

/** A pod of a different agent. Only its labels and annotations distinguish it from the pods of this agent. */
export interface ForeignPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly cgroup: string;
}

/** The ownership mark of an agent with a different root directory. */
const MARK = { 'statelet.io/owner': '/elsewhere/lib@node-1' };
/** The namespace of temporary pods. None of the agent's own pods is in it. */
export const TEMPORARY_NAMESPACE = 'visiting';

/**
 * UID of a pod that belongs to the kubelet on this node. The pod has no ownership mark, so an agent adopts it if a
 * manifest has this UID.
 */
export const KUBELET_POD_UID = '7a1e0000-0000-4000-8000-000000000001';
/** UID of a permanent pod of the agent with a different root directory. */
export const NEIGHBOUR_POD_UID = '7a1e0000-0000-4000-8000-000000000002';

/** UIDs of temporary pods. A manifest may have one of them, too. */
export const TEMPORARY_UIDS = [3, 4, 5].map((number) => `7a1e0000-0000-4000-8000-00000000000${number}`);

const pod = (uid: string, name: string, namespace: string, more: Partial<ForeignPod> = {}): ForeignPod => ({
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

/** Returns the foreign pods that exist from the start. `cgroups` is the parent of their cgroups. */
export const permanentPods = (cgroups: string): readonly ForeignPod[] => [
  // A pod as created by crictl.
  pod('by-hand', 'by-hand', 'default', { labels: {}, cgroup: 'by-hand' }),
  pod(KUBELET_POD_UID, 'kubelets', 'default', { cgroup: `${cgroups}/besteffort/pod${KUBELET_POD_UID}` }),
  pod(NEIGHBOUR_POD_UID, 'neighbour', 'default', { cgroup: `${cgroups}/burstable/podneighbour`, annotations: MARK }),
];

/** Returns a temporary foreign pod in the cgroups of the agent's pods. */
export const temporaryPod = (uid: string): ForeignPod =>
  pod(uid, `visitor-${uid}`, TEMPORARY_NAMESPACE, { annotations: MARK });

/** Runs a pod as its agent does. Returns the IDs of its sandbox and its container. */
export async function runForeignPod(
  runtime: SimulatedRuntime,
  foreignPod: ForeignPod,
  image: string,
): Promise<readonly string[]> {
  const { uid, name, namespace, labels, annotations, cgroup } = foreignPod;
  const call = <K extends CallName>(callName: K, request: RequestOf<K>) =>
    runtime.call(callName, request, new AbortController().signal);
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
