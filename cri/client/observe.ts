/**
 * Converts the runtime's responses to the types of `kubernetes/lifecycle/observed.ts`. Timestamps are converted from
 * nanoseconds to milliseconds.
 */

import { orderedPodIps } from '../../base/ipAddress.ts';
import { readPorts } from '../../kubernetes/api/schema/container.ts';
import type {
  CreatedContainer,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
} from '../../kubernetes/lifecycle/observed.ts';
import {
  CONTAINER_HASH_ANNOTATION,
  CONTAINER_PORTS_ANNOTATION,
  labeledContainerName,
  OWNER_ANNOTATION,
  POD_GRACE_PERIOD_ANNOTATION,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  PRE_STOP_HANDLER_ANNOTATION,
} from '../config/labels.ts';
import {
  type Container,
  ContainerState,
  type ContainerStatus,
  type LinuxContainerUser,
  NamespaceMode,
  type PodSandbox,
  type PodSandboxNetworkStatus,
  PodSandboxState,
  type PodSandboxStatus,
} from '../generated/runtime.ts';

/** Converts a sandbox from a list or a status. Returns undefined if its labels do not name a pod. */
export function observedSandbox(sandbox: PodSandbox | PodSandboxStatus): ObservedSandbox | undefined {
  const { id, metadata, labels, annotations } = sandbox;
  const podUid = labels[POD_UID_LABEL];
  if (!podUid) return undefined;
  const owner = annotations[OWNER_ANNOTATION];
  return {
    id,
    podUid,
    namespace: labels[POD_NAMESPACE_LABEL] ?? metadata?.namespace ?? '',
    podName: labels[POD_NAME_LABEL] ?? metadata?.name ?? '',
    attempt: metadata?.attempt ?? 0,
    state: sandbox.state === PodSandboxState.SANDBOX_READY ? 'ready' : 'notReady',
    createdAt: nanosToMillis(sandbox.createdAt),
    ...(owner ? { owner } : {}),
  };
}

/**
 * Converts the status of a sandbox. Orders the sandbox's IPs by address family, with the node's primary family
 * (`hostIps`) first. The IPs are empty for a sandbox on the host network, and undefined if the runtime does not report
 * the network of the sandbox. Returns undefined if the labels do not name a pod.
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
    ...(status.network ? { ips: podIps(status.network, hostIps) } : {}),
    hostNetwork: network === NamespaceMode.NODE,
  };
}

function podIps({ ip, additionalIps }: PodSandboxNetworkStatus, hostIps: readonly string[]): string[] {
  const ips = [ip, ...additionalIps.map((additional) => additional.ip)].filter((address) => address !== '');
  const orderedIps = orderedPodIps(ips, hostIps);
  // A sandbox without any IP would be recreated, so IPs that cannot be parsed are preserved.
  return orderedIps.length > 0 ? orderedIps : ips;
}

/** Converts a container from a list. Returns undefined if its labels do not name a pod. */
export function observedContainer(container: Container): ObservedContainer | undefined {
  return commonFields(container, container.podSandboxId);
}

/**
 * Reason of a container whose state containerd could not load when it restarted (`unknownExitReason` in
 * `internal/cri/server/helpers.go`). Its startedAt is 0 even if it has run.
 */
const UNKNOWN_EXIT_REASON = 'Unknown';

/**
 * Converts the status of a container. `sandboxId` is passed separately, because the status does not contain it. Returns
 * undefined if the labels do not name a pod.
 */
export function observedContainerStatus(status: ContainerStatus, sandboxId: string): ObservedContainer | undefined {
  const container = commonFields(status, sandboxId);
  if (!container) return undefined;
  const hasExited = status.state === ContainerState.CONTAINER_EXITED;
  const isStateLost = status.reason === UNKNOWN_EXIT_REASON;
  return {
    ...container,
    // Like the kubelet, report the start time 0 (1970-01-01T00:00:00Z) for a container that could not be started.
    ...(status.startedAt > 0n || (hasExited && !isStateLost) ? { startedAt: nanosToMillis(status.startedAt) } : {}),
    ...(status.finishedAt > 0n ? { finishedAt: nanosToMillis(status.finishedAt) } : {}),
    ...(hasExited ? { exitCode: status.exitCode } : {}),
    ...(status.reason ? { reason: status.reason } : {}),
    ...(status.message ? { message: status.message } : {}),
    createdContainer: creationDetails(status),
  };
}

/**
 * Groups listed sandboxes and containers by the UID of the pod. In each group, running containers precede the others,
 * and newer objects precede older ones. Omits objects that do not belong to a pod.
 */
export function groupIntoPods(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): Map<string, ObservedPod> {
  const sandboxesByUid = Map.groupBy(
    sortNewestFirst(sandboxes).map(observedSandbox).filter(isDefined),
    ({ podUid }) => podUid,
  );
  const podContainers = sortRunningFirst(sortNewestFirst(containers)).filter(({ labels }) => labels[POD_UID_LABEL]);
  const containersByUid = Map.groupBy(podContainers, ({ labels }) => labels[POD_UID_LABEL] ?? '');
  const pods = new Map<string, ObservedPod>();
  for (const uid of new Set([...sandboxesByUid.keys(), ...containersByUid.keys()])) {
    const podSandboxes = sandboxesByUid.get(uid) ?? [];
    const containers = containersByUid.get(uid) ?? [];
    pods.set(uid, {
      uid,
      namespace: podSandboxes[0]?.namespace ?? containers[0]?.labels[POD_NAMESPACE_LABEL] ?? '',
      name: podSandboxes[0]?.podName ?? containers[0]?.labels[POD_NAME_LABEL] ?? '',
      sandboxes: podSandboxes,
      containers: containers.map(observedContainer).filter(isDefined),
    });
  }
  return pods;
}

function creationDetails({ image, imageRef, imageId, user, mounts }: ContainerStatus): CreatedContainer {
  const recursiveMounts = mounts.filter((mount) => mount.recursiveReadOnly);
  return {
    image: image?.image ?? '',
    imageRef: imageRef || imageId,
    ...(user?.linux ? { user: toContainerUser(user.linux) } : {}),
    ...(recursiveMounts.length > 0
      ? {
          mounts: Object.fromEntries(
            recursiveMounts.map(({ containerPath, recursiveReadOnly }) => [containerPath, { recursiveReadOnly }]),
          ),
        }
      : {}),
  };
}

function toContainerUser({ uid, gid, supplementalGroups }: LinuxContainerUser): NonNullable<CreatedContainer['user']> {
  const groups = supplementalGroups.map(Number);
  return { uid: Number(uid), gid: Number(gid), ...(groups.length > 0 ? { supplementalGroups: groups } : {}) };
}

function commonFields(container: Container | ContainerStatus, sandboxId: string): ObservedContainer | undefined {
  const { id, metadata, labels, annotations, image } = container;
  const podUid = labels[POD_UID_LABEL];
  if (!podUid) return undefined;
  return {
    id,
    sandboxId,
    podUid,
    name: labeledContainerName(container),
    attempt: metadata?.attempt ?? 0,
    state: toObservedState(container.state),
    createdAt: nanosToMillis(container.createdAt),
    hash: annotations[CONTAINER_HASH_ANNOTATION] ?? '',
    ...(annotations[CONTAINER_PORTS_ANNOTATION] ? { ports: readPorts(annotations[CONTAINER_PORTS_ANNOTATION]) } : {}),
    ...(annotations[PRE_STOP_HANDLER_ANNOTATION] ? { preStop: annotations[PRE_STOP_HANDLER_ANNOTATION] } : {}),
    ...parsePodGrace(annotations[POD_GRACE_PERIOD_ANNOTATION]),
    image: image?.userSpecifiedImage || image?.image || '',
    imageRef: container.imageRef || container.imageId,
  };
}

/**
 * Parses the grace period in an annotation. Any client can write annotations, so a value that is not a number of
 * seconds is ignored.
 */
const parsePodGrace = (text = ''): Pick<ObservedContainer, 'podGraceSeconds'> =>
  /^\d{1,9}$/.test(text) ? { podGraceSeconds: Number(text) } : {};

function toObservedState(state: ContainerState): ObservedContainer['state'] {
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

function nanosToMillis(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}

/** Sorts by attempt number and then by the runtime's timestamps, because attempt numbers do not depend on the clock. */
function sortNewestFirst<T extends PodSandbox | Container>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => {
    const attemptDifference = (b.metadata?.attempt ?? 0) - (a.metadata?.attempt ?? 0);
    if (attemptDifference !== 0 || a.createdAt === b.createdAt) return attemptDifference;
    return a.createdAt > b.createdAt ? -1 : 1;
  });
}

/** Sorts running containers before the others. Containers in the same group retain their order. */
function sortRunningFirst(containers: readonly Container[]): Container[] {
  const statePriority = ({ state }: Container) => (state === ContainerState.CONTAINER_RUNNING ? 0 : 1);
  return containers.toSorted((a, b) => statePriority(a) - statePriority(b));
}

function isDefined<T>(item: T | undefined): item is T {
  return item !== undefined;
}
