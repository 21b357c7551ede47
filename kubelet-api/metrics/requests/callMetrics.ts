/** What is done for pods and containers, from what the ports answer: how often, how long it takes, and what fails. */

import { API_SINK } from '../../../actors/cluster/pods/apiStatusSink.ts';
import type { PortOutcome } from '../../../actors/portOutcome.ts';
import { containerNamed, containersOf } from '../../../kubernetes/api/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { FollowedPods } from '../pods/followedPods.ts';
import { callFamilies } from '../pods/podFamilies.ts';
import type { PodMetrics } from '../pods/podMetrics.ts';
import type { ProbeMetrics } from '../pods/probeMetrics.ts';
import type { ResizeMetrics } from '../pods/resizeMetrics.ts';
import type { ContainerType } from '../pods/statusChanges.ts';
import type { VolumeMetrics } from '../pods/volumeMetrics.ts';
import type { Registry } from '../registry.ts';

export interface CallMetricsParts {
  readonly registry: Registry;
  readonly pods: FollowedPods;
  readonly podMetrics: Pick<PodMetrics, 'statusPut' | 'resized'>;
  readonly probes: Pick<ProbeMetrics, 'tried'>;
  readonly resizes: Pick<ResizeMetrics, 'containerResized' | 'podFitted' | 'forget'>;
  readonly volumes: Pick<VolumeMetrics, 'mounted' | 'unmounted' | 'forget'>;
}

type Of<K extends PortOutcome['port']> = Extract<PortOutcome, { readonly port: K }>;

export class CallMetrics {
  readonly #parts: CallMetricsParts;
  readonly #families: ReturnType<typeof callFamilies>;
  /**
   * The containers of each pod in a user namespace that a kubelet starts in the sync that creates its sandbox, and that have
   * not started yet, by the UID of the pod. A failure of one is an error of that sync (`SyncPod` in
   * `pkg/kubelet/kuberuntime/kuberuntime_manager.go`).
   */
  readonly #unstarted = new Map<string, readonly string[]>();

  constructor(parts: CallMetricsParts) {
    this.#parts = parts;
    this.#families = callFamilies(parts.registry);
  }

  /** A port has answered. */
  answered(answer: PortOutcome): void {
    const { podMetrics, probes, volumes } = this.#parts;
    const { port, failure } = answer;
    if (port === 'runProbe') probes.tried(answer);
    else if (port === 'putStatus') {
      if (answer.input.sink === API_SINK && !failure) podMetrics.statusPut(answer.input.uid);
    } else if (port === 'mountVolume') volumes.mounted(answer);
    else if (port === 'unmountVolume') volumes.unmounted(answer);
    else if (port === 'createContainer') this.#created(answer);
    else if (port === 'startContainer') this.#started(answer);
    else if (port === 'runHook') this.#hookRun(answer);
    else if (port === 'findImage') this.#imageFound(answer);
    else if (port === 'pullImage') this.#pulled(answer);
    else if (port === 'runSandbox') this.#sandboxRun(answer);
    else this.#cgroupsDone(answer);
  }

  /** Drops what is kept about a pod that is gone. Pods without a cgroup have no call that says so. */
  forget(uid: string): void {
    this.#unstarted.delete(uid);
    this.#parts.resizes.forget(uid);
    this.#parts.volumes.forget(uid);
  }

  #sandboxRun({ input: { pod }, failure }: Of<'runSandbox'>): void {
    this.#families.startedPods.add([]);
    if (failure) this.#families.startedPodsErrors.add([]);
    if (pod.spec.hostUsers !== false) return;
    this.#families.startedUserNamespacedPods.add([]);
    if (failure) this.#families.startedUserNamespacedPodsErrors.add([]);
    else this.#unstarted.set(pod.metadata.uid, firstContainers(pod));
  }

  #started({ input: { pod, container }, output, failure }: Of<'startContainer'>): void {
    const reason = failure?.reason ?? (output?.refusal && 'RunContainerError');
    this.#failed(pod, container, reason);
    if (reason !== undefined) return;
    const { uid } = pod.metadata;
    const left = this.#unstarted.get(uid)?.filter((name) => name !== container) ?? [];
    if (left.length > 0) this.#unstarted.set(uid, left);
    else this.#unstarted.delete(uid);
  }

  /** The error of a pod in a user namespace is counted once for each sandbox. */
  #firstFailed({ metadata: { uid } }: Pod, container: string): void {
    if (!this.#unstarted.get(uid)?.includes(container)) return;
    this.#unstarted.delete(uid);
    this.#families.startedUserNamespacedPodsErrors.add([]);
  }

  #cgroupsDone(answer: PortOutcome): void {
    const { port, ms, failure } = answer;
    if (port === 'removeCgroup') this.forget(answer.input.pod.metadata.uid);
    const operation = CGROUP_OPERATIONS.get(port);
    if (operation !== undefined) this.#families.cgroups.observe([operation], ms / 1_000);
    if (port === 'resizeContainer' && !failure) this.#parts.podMetrics.resized(ms);
    const { resizes } = this.#parts;
    if (port === 'resizeContainer') resizes.containerResized(answer.input.pod.metadata.uid, ms, failure !== undefined);
    if (port === 'resizePodCgroup') resizes.podFitted(answer.input.pod.metadata.uid, ms, failure !== undefined);
  }

  #created({ input: { pod, container }, failure }: Of<'createContainer'>): void {
    const type = typeOf(pod, container);
    this.#families.startedContainers.add([type]);
    this.#failed(pod, container, failure?.reason);
    const volumes = imageVolumesOf(pod, container);
    if (volumes === 0) return;
    this.#families.imageVolumes.add([], volumes);
    const isUnmounted = failure?.message.includes('ImageVolumeMountFailed') ?? false;
    (isUnmounted ? this.#families.imageVolumesFailed : this.#families.imageVolumesMounted).add([], volumes);
  }

  #failed(pod: Pod, container: string, reason: string | undefined): void {
    if (reason === undefined) return;
    this.#families.startedContainersErrors.add([typeOf(pod, container), reason]);
    this.#firstFailed(pod, container);
  }

  #hookRun({ input: { pod, container, hook }, ms, output, failure }: Of<'runHook'>): void {
    const reason = (failure ?? output?.failure)?.reason;
    if (hook === 'postStart') this.#failed(pod, container, reason);
    if (output?.warnings?.some((warning) => warning.reason === 'LifecycleHTTPFallback'))
      this.#families.httpFallbacks.add([]);
    const sleep = containerNamed(pod.spec, container)?.container.lifecycle?.[hook]?.sleep;
    if (sleep && ms < sleep.seconds * 1_000) this.#families.sleepsCutShort.add([]);
  }

  /** An image that must always be pulled is not looked up first (`imagePullPrecheck` in `pkg/kubelet/images/image_manager.go`). */
  #imageFound({ input: { policy }, output }: Of<'findImage'>): void {
    const isPresent = output && policy !== 'Always' ? String(output.imageRef !== null) : 'unknown';
    this.#families.ensuredImages.add([isPresent, policy ?? '', pullRequired(policy, output)]);
  }

  /** A kubelet pulls as part of a start: one that fails for that is a start that failed. */
  #pulled({ input: { pod, image }, output, failure }: Of<'pullImage'>): void {
    if (output) {
      const { sizeBytes, startedAt, finishedAt } = output;
      this.#families.pull.observe([sizeLabel(sizeBytes)], Math.max(0, finishedAt - startedAt) / 1_000);
      const followed = this.#parts.pods.of(pod.metadata.uid);
      if (followed && followed.start !== 'told') followed.pulls.push([startedAt, finishedAt]);
    }
    const wanting = containersOf(pod.spec).find(({ container }) => container.image === image);
    if (!failure || wanting === undefined) return;
    this.#families.startedContainers.add([typeOf(pod, wanting.container.name)]);
    this.#failed(pod, wanting.container.name, failure.reason);
  }
}

function pullRequired(policy: string | undefined, found: Of<'findImage'>['output']): string {
  if (policy === 'Always') return 'true';
  if (found === undefined) return 'unknown';
  const { imageRef, isUnproven = false } = found;
  const isNeeded = imageRef === null || isUnproven;
  return isNeeded && policy === 'Never' ? 'unknown' : String(isNeeded);
}

/** As the kubelet's `pkg/kubelet/cm/cgroup_manager_linux.go` calls what it does. */
const CGROUP_OPERATIONS: ReadonlyMap<PortOutcome['port'], string> = new Map([
  ['prepareCgroup', 'create'],
  ['resizePodCgroup', 'update'],
  ['removeCgroup', 'destroy'],
]);

function typeOf(pod: Pod, name: string): ContainerType {
  const role = containerNamed(pod.spec, name)?.role;
  if (role === 'ephemeral') return 'ephemeral_container';
  return role === 'init' || role === 'sidecar' ? 'init_container' : 'container';
}

/** The containers that a kubelet starts in the sync that creates the sandbox: the first init container or, without any, all. */
function firstContainers({ spec: { initContainers = [], containers } }: Pod): readonly string[] {
  const first = initContainers.length > 0 ? initContainers.slice(0, 1) : containers;
  return first.map(({ name }) => name);
}

/** How many image volumes of its pod a container mounts. */
function imageVolumesOf({ spec }: Pod, name: string): number {
  const ofImages = (spec.volumes ?? []).filter((volume) => volume.image !== undefined);
  if (ofImages.length === 0) return 0;
  const mounts = containerNamed(spec, name)?.container.volumeMounts ?? [];
  return ofImages.filter((volume) => mounts.some((mount) => mount.name === volume.name)).length;
}

const MIB = 2 ** 20;
const SIZES: readonly (readonly [above: number, label: string])[] = [
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

/** In which of the kubelet's classes an image is (`GetImageSizeBucket`). */
export const sizeLabel = (bytes: number): string => SIZES.find(([above]) => bytes > above * MIB)?.[1] ?? 'N/A';
