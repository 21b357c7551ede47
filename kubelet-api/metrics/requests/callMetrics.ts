/** Counts and measures operations on pods and containers, based on port outcomes. */

import { API_SINK } from '../../../actors/cluster/pods/apiStatusSink.ts';
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import { containersOf, findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { registerCallFamilies } from '../pods/podFamilies.ts';
import type { PodMetrics } from '../pods/podMetrics.ts';
import type { ProbeMetrics } from '../pods/probeMetrics.ts';
import type { ResizeMetrics } from '../pods/resizeMetrics.ts';
import type { ContainerType } from '../pods/statusChanges.ts';
import type { TrackedPods } from '../pods/trackedPods.ts';
import type { VolumeMetrics } from '../pods/volumeMetrics.ts';
import type { Registry } from '../registry.ts';

export interface CallMetricsParts {
  readonly registry: Registry;
  readonly pods: TrackedPods;
  readonly podMetrics: Pick<PodMetrics, 'statusAcknowledged' | 'resized'>;
  readonly probeMetrics: Pick<ProbeMetrics, 'tried'>;
  readonly resizeMetrics: Pick<ResizeMetrics, 'resized'>;
  readonly volumes: Pick<VolumeMetrics, 'mounted' | 'unmounted' | 'forget'>;
}

type PortOutcomeFor<K extends PortOutcome['port']> = Extract<PortOutcome, { readonly port: K }>;

export class CallMetrics {
  readonly #parts: CallMetricsParts;
  readonly #families: ReturnType<typeof registerCallFamilies>;
  /**
   * Names of the containers that the kubelet starts in the same sync as the sandbox but that have not started yet,
   * keyed by pod UID. Contains only pods in a user namespace. If one of these containers fails to start, the start of
   * the pod has failed (`SyncPod` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
   */
  readonly #unstartedContainers = new Map<string, readonly string[]>();

  constructor(parts: CallMetricsParts) {
    this.#parts = parts;
    this.#families = registerCallFamilies(parts.registry);
  }

  /** Called with the outcome of each port call. */
  recordPortOutcome(outcome: PortOutcome): void {
    const { podMetrics, probeMetrics, volumes } = this.#parts;
    const { port, failure } = outcome;
    if (port === 'runProbe') probeMetrics.tried(outcome);
    else if (port === 'putStatus') {
      if (outcome.input.sink === API_SINK && !failure) podMetrics.statusAcknowledged(outcome.input.uid);
    } else if (port === 'mountVolume') volumes.mounted(outcome);
    else if (port === 'unmountVolume') volumes.unmounted(outcome);
    else if (port === 'createContainer') this.#recordContainerCreation(outcome);
    else if (port === 'startContainer') this.#recordContainerStart(outcome);
    else if (port === 'runHook') this.#recordHookRun(outcome);
    else if (port === 'findImage') this.#recordImageLookup(outcome);
    else if (port === 'pullImage') this.#recordPull(outcome);
    else if (port === 'runSandbox') this.#recordSandboxRun(outcome);
    else this.#recordCgroupOperation(outcome);
  }

  /**
   * Drops the data of a removed pod. Must be called explicitly, because a pod without a cgroup has no final port call
   * that would trigger this.
   */
  forget(uid: string): void {
    this.#unstartedContainers.delete(uid);
    this.#parts.volumes.forget(uid);
  }

  #recordSandboxRun({ input: { pod }, failure }: PortOutcomeFor<'runSandbox'>): void {
    this.#families.startedPods.add([]);
    if (failure) this.#families.startedPodsErrors.add([]);
    if (pod.spec.hostUsers !== false) return;
    this.#families.startedUserNamespacedPods.add([]);
    if (failure) this.#families.startedUserNamespacedPodsErrors.add([]);
    else this.#unstartedContainers.set(pod.metadata.uid, firstContainers(pod));
  }

  #recordContainerStart({ input: { pod, container }, output, failure }: PortOutcomeFor<'startContainer'>): void {
    const reason = failure?.reason ?? (output?.refusal && 'RunContainerError');
    this.#recordContainerFailure(pod, container, reason);
    if (reason !== undefined) return;
    const { uid } = pod.metadata;
    const remainingNames = this.#unstartedContainers.get(uid)?.filter((name) => name !== container) ?? [];
    if (remainingNames.length > 0) this.#unstartedContainers.set(uid, remainingNames);
    else this.#unstartedContainers.delete(uid);
  }

  /** Counts the failed start of a pod in a user namespace, at most once per sandbox. */
  #recordFirstFailure({ metadata: { uid } }: Pod, container: string): void {
    if (!this.#unstartedContainers.get(uid)?.includes(container)) return;
    this.#unstartedContainers.delete(uid);
    this.#families.startedUserNamespacedPodsErrors.add([]);
  }

  #recordCgroupOperation(outcome: PortOutcome): void {
    const { port, ms, failure } = outcome;
    if (port === 'removeCgroup') this.forget(outcome.input.pod.metadata.uid);
    const operation = CGROUP_OPERATIONS.get(port);
    if (operation !== undefined) this.#families.cgroups.observe([operation], ms / 1_000);
    if (port !== 'resizePod') return;
    if (!failure) this.#parts.podMetrics.resized(ms);
    this.#parts.resizeMetrics.resized(ms, failure === undefined);
  }

  #recordContainerCreation({ input: { pod, container }, failure }: PortOutcomeFor<'createContainer'>): void {
    const type = containerType(pod, container);
    this.#families.startedContainers.add([type]);
    this.#recordContainerFailure(pod, container, failure?.reason);
    const volumes = countImageVolumes(pod, container);
    if (volumes === 0) return;
    this.#families.requestedImageVolumes.add([], volumes);
    const hasMountFailure = failure?.message.includes('ImageVolumeMountFailed') ?? false;
    (hasMountFailure ? this.#families.failedImageVolumes : this.#families.mountedImageVolumes).add([], volumes);
  }

  #recordContainerFailure(pod: Pod, container: string, reason: string | undefined): void {
    if (reason === undefined) return;
    this.#families.startedContainersErrors.add([containerType(pod, container), reason]);
    this.#recordFirstFailure(pod, container);
  }

  #recordHookRun({ input: { pod, container, hook }, ms, output, failure }: PortOutcomeFor<'runHook'>): void {
    const reason = (failure ?? output?.failure)?.reason;
    if (hook === 'postStart') this.#recordContainerFailure(pod, container, reason);
    if (output?.warnings?.some((warning) => warning.reason === 'LifecycleHTTPFallback'))
      this.#families.httpFallbacks.add([]);
    const sleepAction = findContainerByName(pod.spec, container)?.container.lifecycle?.[hook]?.sleep;
    if (sleepAction && ms < sleepAction.seconds * 1_000) this.#families.sleepsTerminatedEarly.add([]);
  }

  /**
   * Counts an image lookup, with a label that states whether the image was present. The label is `unknown` for the pull
   * policy `Always`, for which the kubelet does not look up the image (`imagePullPrecheck` in
   * `pkg/kubelet/images/image_manager.go`).
   */
  #recordImageLookup({ input: { policy }, output }: PortOutcomeFor<'findImage'>): void {
    const presentLabel = output && policy !== 'Always' ? String(output.imageRef !== null) : 'unknown';
    this.#families.ensuredImages.add([presentLabel, policy ?? '', toPullRequiredLabel(policy, output)]);
  }

  /** Counts a failed pull as a failed container start, because the kubelet pulls the image as part of the start. */
  #recordPull({ input: { pod, image }, output, failure }: PortOutcomeFor<'pullImage'>): void {
    if (output) {
      const { sizeBytes, startedAt, finishedAt } = output;
      this.#families.pullDuration.observe([sizeLabel(sizeBytes)], Math.max(0, finishedAt - startedAt) / 1_000);
      const trackedPod = this.#parts.pods.get(pod.metadata.uid);
      if (trackedPod && trackedPod.startState !== 'published') trackedPod.pulls.push([startedAt, finishedAt]);
    }
    const matchingContainer = containersOf(pod.spec).find(({ container }) => container.image === image);
    if (!failure || matchingContainer === undefined) return;
    this.#families.startedContainers.add([containerType(pod, matchingContainer.container.name)]);
    this.#recordContainerFailure(pod, matchingContainer.container.name, failure.reason);
  }
}

function toPullRequiredLabel(policy: string | undefined, output: PortOutcomeFor<'findImage'>['output']): string {
  if (policy === 'Always') return 'true';
  if (output === undefined) return 'unknown';
  const { imageRef, isUnproven = false } = output;
  const isPullNeeded = imageRef === null || isUnproven;
  return isPullNeeded && policy === 'Never' ? 'unknown' : String(isPullNeeded);
}

/** The operation names of the kubelet's `pkg/kubelet/cm/cgroup_manager_linux.go`, by port. */
const CGROUP_OPERATIONS: ReadonlyMap<PortOutcome['port'], string> = new Map([
  ['prepareCgroup', 'create'],
  ['resizePod', 'update'],
  ['removeCgroup', 'destroy'],
]);

function containerType(pod: Pod, name: string): ContainerType {
  const role = findContainerByName(pod.spec, name)?.role;
  if (role === 'ephemeral') return 'ephemeral_container';
  return role === 'init' || role === 'sidecar' ? 'init_container' : 'container';
}

/**
 * Returns the containers that the kubelet starts in the same sync as the sandbox: the first init container or, without
 * init containers, all regular ones.
 */
function firstContainers({ spec: { initContainers = [], containers } }: Pod): readonly string[] {
  const firstToStart = initContainers.length > 0 ? initContainers.slice(0, 1) : containers;
  return firstToStart.map(({ name }) => name);
}

function countImageVolumes({ spec }: Pod, name: string): number {
  const imageVolumes = (spec.volumes ?? []).filter((volume) => volume.image !== undefined);
  if (imageVolumes.length === 0) return 0;
  const volumeMounts = findContainerByName(spec, name)?.container.volumeMounts ?? [];
  return imageVolumes.filter((volume) => volumeMounts.some((mount) => mount.name === volume.name)).length;
}

const MIB = 2 ** 20;
const SIZE_CLASSES: readonly (readonly [above: number, label: string])[] = [
  [100 * 1024, 'GT100GB'] as const,
  [60 * 1024, '60GB-100GB'] as const,
  [40 * 1024, '40GB-60GB'] as const,
  [30 * 1024, '30GB-40GB'] as const,
  [20 * 1024, '20GB-30GB'] as const,
  [10 * 1024, '10GB-20GB'] as const,
  [5 * 1024, '5GB-10GB'] as const,
  [1024, '1GB-5GB'] as const,
  [500, '500MB-1GB'] as const,
  [100, '100MB-500MB'] as const,
  [10, '10MB-100MB'] as const,
  [0, '0-10MB'] as const,
];

/** Returns the kubelet's size class of an image (`GetImageSizeBucket`). */
export const sizeLabel = (bytes: number): string => SIZE_CLASSES.find(([above]) => bytes > above * MIB)?.[1] ?? 'N/A';
