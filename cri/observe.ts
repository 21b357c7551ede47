/** What the runtime answers, read as the plain facts of `kubernetes/lifecycle/observed.ts`. Nanoseconds become milliseconds here. */

import { orderedPodIps } from '../base/ipAddress.ts';
import { readPorts } from '../kubernetes/api/schema/container.ts';
import type {
  MadeContainer,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
} from '../kubernetes/lifecycle/observed.ts';
import {
  type Container,
  ContainerState,
  type ContainerStatus,
  type LinuxContainerUser,
  type Mount,
  NamespaceMode,
  type PodSandbox,
  type PodSandboxNetworkStatus,
  PodSandboxState,
  type PodSandboxStatus,
} from './generated/runtime.ts';
import {
  CONTAINER_HASH,
  CONTAINER_PORTS,
  containerNameOf,
  OWNER,
  POD_GRACE_PERIOD,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  PRE_STOP_HANDLER,
} from './labels.ts';
import { signalName } from './stopSignal.ts';

/** A sandbox from a list or a status; undefined when its labels do not say of which pod it is. */
export function observedSandbox(sandbox: PodSandbox | PodSandboxStatus): ObservedSandbox | undefined {
  const { id, metadata, labels, annotations } = sandbox;
  const podUid = labels[POD_UID_LABEL];
  if (!podUid) return undefined;
  const owner = annotations[OWNER];
  return {
    id,
    podUid,
    namespace: labels[POD_NAMESPACE_LABEL] ?? metadata?.namespace ?? '',
    podName: labels[POD_NAME_LABEL] ?? metadata?.name ?? '',
    attempt: metadata?.attempt ?? 0,
    state: sandbox.state === PodSandboxState.SANDBOX_READY ? 'ready' : 'notReady',
    createdAt: milliseconds(sandbox.createdAt),
    ...(owner ? { owner } : {}),
  };
}

/**
 * A sandbox from its status, with its addresses in the order of the node's, `hostIps`. A sandbox on the host's network has
 * none, and a runtime may leave them out. Undefined if the labels do not say of which pod it is.
 */
export function observedSandboxStatus(
  status: PodSandboxStatus,
  hostIps: readonly string[] = [],
): ObservedSandbox | undefined {
  const sandbox = observedSandbox(status);
  if (!sandbox) return undefined;
  const network = status.linux?.namespaces?.options?.network;
  return {
    ...sandbox,
    ...(status.network ? { ips: addressesOf(status.network, hostIps) } : {}),
    hostNetwork: network === NamespaceMode.NODE,
  };
}

function addressesOf({ ip, additionalIps }: PodSandboxNetworkStatus, hostIps: readonly string[]): string[] {
  const ips = [ip, ...additionalIps.map((additional) => additional.ip)].filter((address) => address !== '');
  const ordered = orderedPodIps(ips, hostIps);
  // A sandbox without any address would be replaced, so addresses that cannot be parsed are preserved.
  return ordered.length > 0 ? ordered : ips;
}

/** A container from a list; undefined when its labels do not say of which pod it is. */
export function observedContainer(container: Container): ObservedContainer | undefined {
  return commonOf(container, container.podSandboxId);
}

/**
 * The reason of a container whose state containerd could not load when it was restarted (`unknownExitReason` in
 * `internal/cri/server/helpers.go`). Its startedAt is 0 although it may have run.
 */
const FORGOTTEN = 'Unknown';

/** A container from its status, which does not name the sandbox; undefined as above. */
export function observedContainerStatus(status: ContainerStatus, sandboxId: string): ObservedContainer | undefined {
  const container = commonOf(status, sandboxId);
  if (!container) return undefined;
  const hasExited = status.state === ContainerState.CONTAINER_EXITED;
  const isForgotten = status.reason === FORGOTTEN;
  return {
    ...container,
    // A runtime reports 0 for a container that it could not start, and so does the kubelet (1970-01-01T00:00:00Z).
    ...(status.startedAt > 0n || (hasExited && !isForgotten) ? { startedAt: milliseconds(status.startedAt) } : {}),
    ...(status.finishedAt > 0n ? { finishedAt: milliseconds(status.finishedAt) } : {}),
    ...(hasExited ? { exitCode: status.exitCode } : {}),
    ...(status.reason ? { reason: status.reason } : {}),
    ...(status.message ? { message: status.message } : {}),
    made: madeOf(status),
  };
}

/**
 * All that two lists show, by the uid of the pod, the newest first, and before those the containers that run; what is of
 * no pod is left out.
 */
export function observedPods(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): Map<string, ObservedPod> {
  const sandboxesOf = Map.groupBy(newestFirst(sandboxes).map(observedSandbox).filter(isOfAPod), ({ podUid }) => podUid);
  const labelled = runningFirst(newestFirst(containers)).filter(({ labels }) => labels[POD_UID_LABEL]);
  const containersOf = Map.groupBy(labelled, ({ labels }) => labels[POD_UID_LABEL] ?? '');
  const pods = new Map<string, ObservedPod>();
  for (const uid of new Set([...sandboxesOf.keys(), ...containersOf.keys()])) {
    const of = sandboxesOf.get(uid) ?? [];
    const within = containersOf.get(uid) ?? [];
    pods.set(uid, {
      uid,
      namespace: of[0]?.namespace ?? within[0]?.labels[POD_NAMESPACE_LABEL] ?? '',
      name: of[0]?.podName ?? within[0]?.labels[POD_NAME_LABEL] ?? '',
      sandboxes: of,
      containers: within.map(observedContainer).filter(isOfAPod),
    });
  }
  return pods;
}

function madeOf({ image, imageRef, imageId, user, stopSignal, mounts }: ContainerStatus): MadeContainer {
  const special = mounts.filter((mount) => mount.recursiveReadOnly || mount.image?.image);
  const signal = signalName(stopSignal);
  return {
    image: image?.image ?? '',
    imageRef: imageRef || imageId,
    ...(user?.linux ? { user: userOf(user.linux) } : {}),
    ...(signal ? { stopSignal: signal } : {}),
    ...(special.length > 0 ? { mounts: Object.fromEntries(special.map(specialMount)) } : {}),
  };
}

function userOf({ uid, gid, supplementalGroups }: LinuxContainerUser): NonNullable<MadeContainer['user']> {
  const groups = supplementalGroups.map(Number);
  return { uid: Number(uid), gid: Number(gid), ...(groups.length > 0 ? { supplementalGroups: groups } : {}) };
}

function specialMount({ containerPath, image, recursiveReadOnly }: Mount) {
  const shown = {
    ...(image?.image ? { image: image.image } : {}),
    ...(recursiveReadOnly ? { recursiveReadOnly } : {}),
  };
  return [containerPath, shown] as const;
}

function commonOf(container: Container | ContainerStatus, sandboxId: string): ObservedContainer | undefined {
  const { id, metadata, labels, annotations, image } = container;
  const podUid = labels[POD_UID_LABEL];
  if (!podUid) return undefined;
  return {
    id,
    sandboxId,
    podUid,
    name: containerNameOf(container),
    attempt: metadata?.attempt ?? 0,
    state: stateOf(container.state),
    createdAt: milliseconds(container.createdAt),
    hash: annotations[CONTAINER_HASH] ?? '',
    ...(annotations[CONTAINER_PORTS] ? { ports: readPorts(annotations[CONTAINER_PORTS]) } : {}),
    ...(annotations[PRE_STOP_HANDLER] ? { preStop: annotations[PRE_STOP_HANDLER] } : {}),
    ...graceIn(annotations[POD_GRACE_PERIOD]),
    image: image?.userSpecifiedImage || image?.image || '',
    imageRef: container.imageRef || container.imageId,
  };
}

/** Anyone may write an annotation: what is no number of seconds says nothing. */
const graceIn = (text = ''): Pick<ObservedContainer, 'podGraceSeconds'> =>
  /^\d{1,9}$/.test(text) ? { podGraceSeconds: Number(text) } : {};

function stateOf(state: ContainerState): ObservedContainer['state'] {
  switch (state) {
    case ContainerState.CONTAINER_CREATED:
      return 'created';
    case ContainerState.CONTAINER_RUNNING:
      return 'running';
    case ContainerState.CONTAINER_EXITED:
      return 'exited';
    default:
      return 'unknown';
  }
}

function milliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}

/** A higher attempt is the newer of two, whatever the clock was set to meanwhile; then the runtime's own times decide. */
function newestFirst<T extends PodSandbox | Container>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => {
    const later = (b.metadata?.attempt ?? 0) - (a.metadata?.attempt ?? 0);
    if (later !== 0 || a.createdAt === b.createdAt) return later;
    return a.createdAt > b.createdAt ? -1 : 1;
  });
}

/** What a runtime had lost and found again may have a higher attempt than what has run since. */
function runningFirst(containers: readonly Container[]): Container[] {
  const rank = ({ state }: Container) => (state === ContainerState.CONTAINER_RUNNING ? 0 : 1);
  return containers.toSorted((a, b) => rank(a) - rank(b));
}

function isOfAPod<T>(item: T | undefined): item is T {
  return item !== undefined;
}
