/** Counts and measures operations on pods and containers, based on port outcomes. */

import { API_SINK } from '../../../actors/cluster/pods/apiStatusSink.ts';
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import { containerNamed, containersOf } from '../../../kubernetes/api/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { callFamilies } from '../pods/podFamilies.ts';
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
  readonly probes: Pick<ProbeMetrics, 'tried'>;
  readonly resizes: Pick<ResizeMetrics, 'containerResized' | 'podFitted' | 'forget'>;
  readonly volumes: Pick<VolumeMetrics, 'mounted' | 'unmounted' | 'forget'>;
}

type OutcomeOf<K extends PortOutcome['port']> = Extract<PortOutcome, { readonly port: K }>;

export class CallMetrics {
  readonly #parts: CallMetricsParts;
  readonly #families: ReturnType<typeof callFamilies>;
  /**
   * For each pod in a user namespace, by UID, the names of the containers that a kubelet starts in the same sync as the
   * sandbox and that have not started yet. If one fails to start, that sync has failed (`SyncPod` in
   * `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
   */
  readonly #unstarted = new Map<string, readonly string[]>();

  constructor(parts: CallMetricsParts) {
    this.#parts = parts;
    this.#families = callFamilies(parts.registry);
  }

  /** Called with the outcome of each port call. */
  portCompleted(outcome: PortOutcome): void {
    const { podMetrics, probes, volumes } = this.#parts;
    const { port, failure } = outcome;
    if (port === 'runProbe') probes.tried(outcome);
    else if (port === 'putStatus') {
      if (outcome.input.sink === API_SINK && !failure) podMetrics.statusAcknowledged(outcome.input.uid);
    } else if (port === 'mountVolume') volumes.mounted(outcome);
    else if (port === 'unmountVolume') volumes.unmounted(outcome);
    else if (port === 'createContainer') this.#created(outcome);
    else if (port === 'startContainer') this.#started(outcome);
    else if (port === 'runHook') this.#hookRun(outcome);
    else if (port === 'findImage') this.#imageFound(outcome);
    else if (port === 'pullImage') this.#pulled(outcome);
    else if (port === 'runSandbox') this.#sandboxRun(outcome);
    else this.#cgroupOperationCompleted(outcome);
  }

  /**
   * Drops the data of a removed pod. Must be called explicitly, because there is no final port call for a pod without a
   * cgroup.
   */
  forget(uid: string): void {
    this.#unstarted.delete(uid);
    this.#parts.resizes.forget(uid);
    this.#parts.volumes.forget(uid);
  }

  #sandboxRun({ input: { pod }, failure }: OutcomeOf<'runSandbox'>): void {
    this.#families.startedPods.add([]);
    if (failure) this.#families.startedPodsErrors.add([]);
    if (pod.spec.hostUsers !== false) return;
    this.#families.startedUserNamespacedPods.add([]);
    if (failure) this.#families.startedUserNamespacedPodsErrors.add([]);
    else this.#unstarted.set(pod.metadata.uid, firstContainers(pod));
  }

  #started({ input: { pod, container }, output, failure }: OutcomeOf<'startContainer'>): void {
    const reason = failure?.reason ?? (output?.refusal && 'RunContainerError');
    this.#failed(pod, container, reason);
    if (reason !== undefined) return;
    const { uid } = pod.metadata;
    const remaining = this.#unstarted.get(uid)?.filter((name) => name !== container) ?? [];
    if (remaining.length > 0) this.#unstarted.set(uid, remaining);
    else this.#unstarted.delete(uid);
  }

  /** Counts the failed start of a pod in a user namespace, at most once per sandbox. */
  #firstFailed({ metadata: { uid } }: Pod, container: string): void {
    if (!this.#unstarted.get(uid)?.includes(container)) return;
    this.#unstarted.delete(uid);
    this.#families.startedUserNamespacedPodsErrors.add([]);
  }

  #cgroupOperationCompleted(outcome: PortOutcome): void {
    const { port, ms, failure } = outcome;
    if (port === 'removeCgroup') this.forget(outcome.input.pod.metadata.uid);
    const operation = CGROUP_OPERATIONS.get(port);
    if (operation !== undefined) this.#families.cgroups.observe([operation], ms / 1_000);
    if (port === 'resizeContainer' && !failure) this.#parts.podMetrics.resized(ms);
    const { resizes } = this.#parts;
    if (port === 'resizeContainer') resizes.containerResized(outcome.input.pod.metadata.uid, ms, failure !== undefined);
    if (port === 'resizePodCgroup') resizes.podFitted(outcome.input.pod.metadata.uid, ms, failure !== undefined);
  }

  #created({ input: { pod, container }, failure }: OutcomeOf<'createContainer'>): void {
    const type = containerType(pod, container);
    this.#families.startedContainers.add([type]);
    this.#failed(pod, container, failure?.reason);
    const volumes = countImageVolumes(pod, container);
    if (volumes === 0) return;
    this.#families.imageVolumes.add([], volumes);
    const isUnmounted = failure?.message.includes('ImageVolumeMountFailed') ?? false;
    (isUnmounted ? this.#families.imageVolumesFailed : this.#families.imageVolumesMounted).add([], volumes);
  }

  #failed(pod: Pod, container: string, reason: string | undefined): void {
    if (reason === undefined) return;
    this.#families.startedContainersErrors.add([containerType(pod, container), reason]);
    this.#firstFailed(pod, container);
  }

  #hookRun({ input: { pod, container, hook }, ms, output, failure }: OutcomeOf<'runHook'>): void {
    const reason = (failure ?? output?.failure)?.reason;
    if (hook === 'postStart') this.#failed(pod, container, reason);
    if (output?.warnings?.some((warning) => warning.reason === 'LifecycleHTTPFallback'))
      this.#families.httpFallbacks.add([]);
    const sleep = containerNamed(pod.spec, container)?.container.lifecycle?.[hook]?.sleep;
    if (sleep && ms < sleep.seconds * 1_000) this.#families.sleepsCutShort.add([]);
  }

  /**
   * Counts whether the image was present, except for pull policy `Always`, with which a kubelet does not check this
   * (`imagePullPrecheck` in `pkg/kubelet/images/image_manager.go`).
   */
  #imageFound({ input: { policy }, output }: OutcomeOf<'findImage'>): void {
    const isPresent = output && policy !== 'Always' ? String(output.imageRef !== null) : 'unknown';
    this.#families.ensuredImages.add([isPresent, policy ?? '', pullRequired(policy, output)]);
  }

  /** Counts a failed pull as a failed container start, because a kubelet pulls as part of the start. */
  #pulled({ input: { pod, image }, output, failure }: OutcomeOf<'pullImage'>): void {
    if (output) {
      const { sizeBytes, startedAt, finishedAt } = output;
      this.#families.pull.observe([sizeLabel(sizeBytes)], Math.max(0, finishedAt - startedAt) / 1_000);
      const tracked = this.#parts.pods.get(pod.metadata.uid);
      if (tracked && tracked.start !== 'published') tracked.pulls.push([startedAt, finishedAt]);
    }
    const match = containersOf(pod.spec).find(({ container }) => container.image === image);
    if (!failure || match === undefined) return;
    this.#families.startedContainers.add([containerType(pod, match.container.name)]);
    this.#failed(pod, match.container.name, failure.reason);
  }
}

function pullRequired(policy: string | undefined, output: OutcomeOf<'findImage'>['output']): string {
  if (policy === 'Always') return 'true';
  if (output === undefined) return 'unknown';
  const { imageRef, isUnproven = false } = output;
  const isNeeded = imageRef === null || isUnproven;
  return isNeeded && policy === 'Never' ? 'unknown' : String(isNeeded);
}

/** The operation names of the kubelet's `pkg/kubelet/cm/cgroup_manager_linux.go`, by port. */
const CGROUP_OPERATIONS: ReadonlyMap<PortOutcome['port'], string> = new Map([
  ['prepareCgroup', 'create'],
  ['resizePodCgroup', 'update'],
  ['removeCgroup', 'destroy'],
]);

function containerType(pod: Pod, name: string): ContainerType {
  const role = containerNamed(pod.spec, name)?.role;
  if (role === 'ephemeral') return 'ephemeral_container';
  return role === 'init' || role === 'sidecar' ? 'init_container' : 'container';
}

/**
 * Returns the containers that a kubelet starts in the same sync as the sandbox: the first init container or, without
 * init containers, all regular ones.
 */
function firstContainers({ spec: { initContainers = [], containers } }: Pod): readonly string[] {
  const first = initContainers.length > 0 ? initContainers.slice(0, 1) : containers;
  return first.map(({ name }) => name);
}

function countImageVolumes({ spec }: Pod, name: string): number {
  const imageVolumes = (spec.volumes ?? []).filter((volume) => volume.image !== undefined);
  if (imageVolumes.length === 0) return 0;
  const mounts = containerNamed(spec, name)?.container.volumeMounts ?? [];
  return imageVolumes.filter((volume) => mounts.some((mount) => mount.name === volume.name)).length;
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
