import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure, toFailure } from '../../base/failure.ts';
import { type Clock, type SteadyClock, steadyClock } from '../../base/time/clock.ts';
import { goDuration } from '../../base/time/duration.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { CallOptions, Cri } from '../../cri/client/calls.ts';
import {
  annotatedImages,
  imagesOf,
  labeledContainerName,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
} from '../../cri/config/labels.ts';
import type { Container, Image } from '../../cri/generated/runtime.ts';
import { imageSpec } from '../../cri/images/imageSpec.ts';
import { runtimeConfig } from '../../cri/images/runtimeConfig.ts';
import { warning } from '../../kubernetes/events/recordedEvent.ts';
import {
  bytesToFree,
  type DetectedImage,
  freeSpaceFailedMessage,
  hasMinimumAge,
  type ImageCollection,
  type ImageDisk,
  type ImageGarbagePolicy,
  type ImageRecord,
  type ImageUse,
  imageUses,
  isExpired,
  isImageGarbageOff,
  type RemovedImage,
  removableImages,
  updateImageRecords,
} from '../../kubernetes/images/imageGarbage.ts';
import { listedName } from '../../kubernetes/images/imageReference.ts';
import type { ServiceAction } from '../serviceAction.ts';
import { ignoreNotFound } from '../services/sandboxes/sandboxes.ts';
import type { ImageClaims } from './imageClaims.ts';
import type { PullProofs } from './pullProofs.ts';

type ImageRuntime = Pick<
  Cri,
  'listImages' | 'listContainers' | 'containerStatus' | 'status' | 'imageFsInfo' | 'removeImage'
>;

export interface ImageCollectorDependencies {
  readonly cri: ImageRuntime;
  readonly clock: Clock;
  readonly policy: ImageGarbagePolicy;
  readonly claims: ImageClaims;
  /**
   * Reads the capacity and the available space of the filesystem that contains a path. Returns undefined if they cannot
   * be read.
   */
  readonly readDisk: (path: string, signal: AbortSignal) => Promise<ImageDisk | undefined>;
  readonly proofs: Pick<PullProofs, 'forget'>;
  readonly onServiceAction?: ((action: ServiceAction) => void) | undefined;
}

/** UIDs of the pods that may still create containers. Only the claims of these pods protect images from removal. */
export type ActivePods = readonly string[];

/**
 * Removes unused images from the runtime (`pkg/kubelet/images/image_gc_manager.go`), periodically and for evictions. An
 * image is in use if it is the sandbox image, if any container in the runtime, including terminated ones, runs or
 * mounts it, or if an active pod has claimed it. Image records are in memory only, so ages are measured from the start
 * of the agent. Calls run sequentially.
 */
export class ImageCollector {
  readonly #dependencies: ImageCollectorDependencies;
  readonly #clock: SteadyClock;
  readonly #startedAt: number;
  #records = new Map<string, ImageRecord>();
  /** References of the images that each container mounts, by container ID. A container's mounts never change. */
  #mountedImages: ReadonlyMap<string, readonly string[]> = new Map();
  /** Name of the sandbox image, as listed. Undefined if the runtime does not report it. */
  #sandboxImage: string | undefined;
  #previousCall: Promise<unknown> = Promise.resolve();

  constructor(dependencies: ImageCollectorDependencies) {
    this.#dependencies = dependencies;
    this.#clock = steadyClock(dependencies.clock);
    this.#startedAt = this.#clock.now();
  }

  /**
   * Lists the images, determines which are in use, and removes images according to the garbage collection policy. First
   * removes the images that have been unused for longer than the maximum age, then other unused images until the usage
   * of the filesystem falls to the low threshold. Rejects if the images cannot be listed. Any other failure is part of
   * the result.
   */
  collect(activePods: ActivePods, options: CallOptions): Promise<ImageCollection> {
    return this.#runSequentially(async () => {
      const now = await this.#detect(activePods, options);
      const removed: RemovedImage[] = [];
      const result = isImageGarbageOff(this.#dependencies.policy) ? {} : await this.#applyPolicy(now, removed, options);
      const records = [...this.#records.values()];
      const unusedCount = records.filter(({ users }) => users.length === 0).length;
      return { imageCount: records.length, unusedCount, removed, ...result };
    }, options);
  }

  /**
   * Removes unused images until `bytes` are freed, or all unused images if `bytes` is Infinity. The size of each
   * removed image counts as freed. Like the periodic collection, retains images below the minimum age. Rejects if the
   * images cannot be listed. If some images cannot be removed, tries all others before it rejects.
   */
  freeSpace(bytes: number, activePods: ActivePods, options: CallOptions): Promise<readonly RemovedImage[]> {
    return this.#runSequentially(async () => {
      const now = await this.#detect(activePods, options);
      const removed: RemovedImage[] = [];
      await this.#freeSpace(bytes, { now, removed }, options);
      return removed;
    }, options);
  }

  /** Lists the images and how each is used. The times are in milliseconds since the epoch. */
  uses(options: CallOptions): Promise<readonly ImageUse[]> {
    return this.#runSequentially(async () => {
      await this.#detect(undefined, options);
      return imageUses(this.#records, this.#dependencies.policy, this.#startedAt).map((use) => ({
        ...use,
        ...(use.unusedSince === undefined ? {} : { unusedSince: this.#clock.toWallTime(use.unusedSince) }),
        ...(use.expiresAt === undefined ? {} : { expiresAt: this.#clock.toWallTime(use.expiresAt) }),
      }));
    }, options);
  }

  #runSequentially<T>(act: () => Promise<T>, { signal }: CallOptions): Promise<T> {
    const call = unlessAborted(this.#previousCall, signal).then(act);
    // Also wait for the previous call, because this call rejects as soon as it is aborted, while the previous call may
    // still be running.
    this.#previousCall = Promise.allSettled([this.#previousCall, call]);
    return call;
  }

  /** Applies the garbage collection policy to the listed images. Adds the removed images to `removed`. */
  async #applyPolicy(
    now: number,
    removed: RemovedImage[],
    options: CallOptions,
  ): Promise<Pick<ImageCollection, 'disk' | 'events' | 'failure'>> {
    const { policy, clock } = this.#dependencies;
    const createRuntimeFailure = (message: string) => toFailure(new NodeFailure('RuntimeError', message), clock.now());
    let disk: ImageDisk | undefined;
    try {
      await this.#removeExpired({ now, removed }, options);
      disk = await this.#readDisk(options);
      if (disk.capacityBytes === 0) {
        const message = 'invalid capacity 0 on image filesystem';
        return { disk, events: [warning('InvalidDiskCapacity', message)], failure: createRuntimeFailure(message) };
      }
      const excessBytes = bytesToFree(disk, policy);
      if (excessBytes <= 0) return { disk };
      const freedBytes = await this.#freeSpace(excessBytes, { now, removed }, options);
      if (freedBytes >= excessBytes) return { disk };
      const message = freeSpaceFailedMessage(disk, freedBytes);
      return { disk, events: [warning('FreeDiskSpaceFailed', message)], failure: createRuntimeFailure(message) };
    } catch (error) {
      options.signal.throwIfAborted();
      return { ...(disk ? { disk } : {}), failure: toFailure(error, clock.now()) };
    }
  }

  async #removeExpired(
    { now, removed }: { readonly now: number; readonly removed: RemovedImage[] },
    options: CallOptions,
  ): Promise<void> {
    const { policy } = this.#dependencies;
    const errors: unknown[] = [];
    for (const image of removableImages(this.#records)) {
      if (!isExpired(image, policy, { now, startedAt: this.#startedAt })) continue;
      await this.#remove(image, { reason: 'age', removed, errors }, options);
    }
    if (errors.length === 0) return;
    const prefix = `wanted to free images older than ${goDuration(policy.maxAgeMs)}, encountered errors in image deletion`;
    throw new NodeFailure('RuntimeError', `${prefix}: ${joinMessages(errors)}`, { cause: errors[0] });
  }

  /** Removes unused images until `bytes` are freed. Returns the number of freed bytes. */
  async #freeSpace(
    bytes: number,
    { now, removed }: { readonly now: number; readonly removed: RemovedImage[] },
    options: CallOptions,
  ): Promise<number> {
    const { policy } = this.#dependencies;
    const errors: unknown[] = [];
    let freedBytes = 0;
    for (const image of removableImages(this.#records)) {
      if (freedBytes >= bytes) break;
      if (!hasMinimumAge(image, policy, now)) continue;
      const wasRemoved = await this.#remove(image, { reason: 'space', removed, errors }, options);
      if (wasRemoved) freedBytes += image.sizeBytes;
    }
    if (errors.length === 0) return freedBytes;
    const wantedSpace = Number.isFinite(bytes) ? `${bytes} bytes` : 'all unused images';
    const prefix = `wanted to free ${wantedSpace}, but freed ${freedBytes} bytes space with errors in image deletion`;
    throw new NodeFailure('RuntimeError', `${prefix}: ${joinMessages(errors)}`, { cause: errors[0] });
  }

  /** Removes an image unless a pod has claimed it since the images were listed. Returns whether it was removed. */
  async #remove(
    image: ImageRecord,
    { reason, removed, errors }: Pick<RemovedImage, 'reason'> & { removed: RemovedImage[]; errors: unknown[] },
    options: CallOptions,
  ): Promise<boolean> {
    const { cri, claims, proofs, onServiceAction } = this.#dependencies;
    const { id, names, sizeBytes } = image;
    try {
      const remove = () => cri.removeImage({ image: imageSpec(id) }, options);
      if (!(await claims.removeUnlessClaimed(image, remove))) return false;
    } catch (error) {
      options.signal.throwIfAborted();
      errors.push(error);
      return false;
    }
    this.#records.delete(id);
    removed.push({ id, name: names[0] ?? id, sizeBytes, reason });
    onServiceAction?.({ action: 'imageCollected', reason });
    await proofs.forget(id, options);
    return true;
  }

  /**
   * Lists the runtime's images and updates the image records. Returns the time at which the images were listed. If
   * `activePods` is undefined, every claim counts.
   */
  async #detect(activePods: ActivePods | undefined, options: CallOptions): Promise<number> {
    const { cri, claims } = this.#dependencies;
    const lastClaimNumber = claims.lastNumber;
    const [{ images }, { containers }] = await Promise.all([
      cri.listImages({ filter: undefined }, options),
      cri.listContainers({ filter: undefined }, options),
      this.#readSandboxImage(options),
    ]);
    await this.#readMounts(containers, options);
    if (activePods !== undefined) claims.retainPods(activePods, lastClaimNumber);
    const usersByReference = this.#containersByReference(containers);
    const now = this.#clock.now();
    this.#records = updateImageRecords(
      this.#records,
      images.map((image) => this.#detectedImage(image, usersByReference)),
      now,
    );
    return now;
  }

  #detectedImage(
    { id, repoTags, repoDigests, size, pinned }: Image,
    containersByReference: ReadonlyMap<string, readonly Container[]>,
  ): DetectedImage {
    const names = [...repoTags, ...repoDigests];
    const containers = new Set([id, ...repoDigests].flatMap((each) => containersByReference.get(each) ?? []));
    const podsWithContainer = new Set([...containers].map(podNameOf));
    const claimingPods = this.#dependencies.claims.podsWith({ id, names });
    const isOfSandboxes = this.#sandboxImage !== undefined && names.includes(this.#sandboxImage);
    const users = [
      ...[...containers].map(describeContainer),
      ...claimingPods.filter((pod) => !podsWithContainer.has(pod)).map((pod) => `pod ${pod}`),
      ...(isOfSandboxes ? ['the sandboxes of all pods'] : []),
    ];
    return { id, names, sizeBytes: Number(size), isPinned: pinned, users };
  }

  /** Indexes containers by the IDs and digests of the images that they run or mount. */
  #containersByReference(containers: readonly Container[]): ReadonlyMap<string, readonly Container[]> {
    const containersByReference = new Map<string, Container[]>();
    for (const container of containers) {
      const references = [container.imageId, container.imageRef, ...(this.#mountedImages.get(container.id) ?? [])];
      for (const reference of new Set(references)) {
        const sharingContainers = containersByReference.get(reference);
        if (sharingContainers) sharingContainers.push(container);
        else containersByReference.set(reference, [container]);
      }
    }
    return containersByReference;
  }

  /**
   * Records which images the containers mount. A container of this agent names its images in an annotation, which saves
   * a status call for every container at each start of the agent. For a new container of another agent, requests the
   * status from the runtime.
   */
  async #readMounts(containers: readonly Container[], options: CallOptions): Promise<void> {
    const { cri } = this.#dependencies;
    const mountedImages = new Map<string, readonly string[]>();
    for (const container of containers) {
      const { id } = container;
      const previous = annotatedImages(container) ?? this.#mountedImages.get(id);
      if (previous !== undefined) {
        mountedImages.set(id, previous);
        continue;
      }
      const response = await cri.containerStatus({ containerId: id, verbose: false }, options).catch(ignoreNotFound);
      mountedImages.set(id, imagesOf(response?.status?.mounts ?? []));
    }
    this.#mountedImages = mountedImages;
  }

  /** Reads the name of the sandbox image, because old versions of containerd do not pin that image. */
  async #readSandboxImage(options: CallOptions): Promise<void> {
    const { sandboxImage } = await runtimeConfig(this.#dependencies.cri, options);
    if (sandboxImage) this.#sandboxImage = listedName(sandboxImage);
  }

  async #readDisk(options: CallOptions): Promise<ImageDisk> {
    const { cri, readDisk } = this.#dependencies;
    const { imageFilesystems } = await cri.imageFsInfo({}, options);
    const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
    const disk = mountpoint ? await readDisk(mountpoint, options.signal) : undefined;
    if (disk !== undefined) return disk;
    const locationNote = mountpoint ?? 'which the runtime does not report';
    throw new NodeFailure('RuntimeError', `the size of the image filesystem cannot be read: ${locationNote}`);
  }
}

/** Returns the pod of a container as `namespace/name`. Undefined if it has none. */
function podNameOf({ labels }: Container): string | undefined {
  const [namespace, pod] = [lookUp(labels, POD_NAMESPACE_LABEL), lookUp(labels, POD_NAME_LABEL)];
  return pod === undefined ? undefined : `${namespace}/${pod}`;
}

function describeContainer(container: Container): string {
  const pod = podNameOf(container);
  const name = `container ${labeledContainerName(container) || container.id}`;
  return pod === undefined ? name : `${name} of pod ${pod}`;
}

/** Joins the distinct messages of the errors (`Error` of Kubernetes' aggregate). */
function joinMessages(errors: readonly unknown[]): string {
  const messages = [...new Set(errors.map(messageOf))];
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
}
