import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { listedName } from '../../kubernetes/images/imageReference.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';

export interface ClaimableImage {
  readonly id: string;
  /** Tags and digests. */
  readonly names: readonly string[];
}

interface PodClaims {
  readonly pod: Pod;
  /** Sequence number of the pod's latest claim. */
  readonly number: number;
  /** The claimed images, by their names in the spec. */
  readonly images: Map<string, ClaimedImage>;
}

interface ClaimedImage {
  /** Name under which the runtime lists the image. */
  readonly listedName: string | undefined;
  /** The runtime's reference to the image. Undefined until the runtime has reported it. */
  readonly imageRef: string | undefined;
}

/**
 * Prevents the removal of images that a pod is about to use. After an image has been checked or pulled, no container in
 * the runtime uses it until the pod's container is created. Therefore a pod claims an image before checking whether the
 * runtime has it. If the image is being removed, the pod's check waits until the removal is over.
 */
export class ImageClaims {
  readonly #pods = new Map<string, PodClaims>();
  /** Removals in progress, by image ID. */
  readonly #removals = new Map<string, Promise<unknown>>();
  #lastNumber = 0;

  /** Sequence number of the latest claim of any pod. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  /**
   * Claims an image for a pod, calls `find` and returns its result. If the runtime still reports an image that is being
   * removed, waits for the removal and calls `find` again. `find` returns null for `imageRef` if the runtime does not
   * have the image.
   */
  async claimWhile<T extends { readonly imageRef: string | null }>(
    pod: Pod,
    image: string,
    { find, signal }: { readonly find: () => Promise<T>; readonly signal: AbortSignal },
  ): Promise<T> {
    this.#claim(pod, image);
    for (;;) {
      const result = await find();
      if (result.imageRef === null) return result;
      this.#claim(pod, image, result.imageRef);
      const removal = this.#removals.get(result.imageRef);
      if (removal === undefined) return result;
      await unlessAborted(removal, signal);
    }
  }

  /** Returns the names of the pods that have claimed an image. */
  podsWith({ id, names }: ClaimableImage): string[] {
    const references = new Set([id, ...names]);
    return [...this.#pods.values()]
      .filter(({ images }) =>
        [...images.values()].some((image) =>
          [image.imageRef, image.listedName].some((each) => each !== undefined && references.has(each)),
        ),
      )
      .map(({ pod }) => namespacedName(pod));
  }

  /** Removes an image unless a pod has claimed it. Returns whether it was removed. */
  async removeUnlessClaimed(image: ClaimableImage, remove: () => Promise<unknown>): Promise<boolean> {
    if (this.podsWith(image).length > 0) return false;
    const removal = remove();
    this.#removals.set(
      image.id,
      removal.catch(() => {}),
    );
    try {
      await removal;
      return true;
    } finally {
      this.#removals.delete(image.id);
    }
  }

  /** Drops the claims of a pod that has terminated. */
  release(uid: string): void {
    this.#pods.delete(uid);
  }

  /**
   * Drops the claims of all pods except those with the given UIDs. Pods whose latest claim has a number above `until`
   * retain their claims.
   */
  retainPods(uids: readonly string[], until: number): void {
    const retained = new Set(uids);
    for (const [uid, { number }] of this.#pods) if (!retained.has(uid) && number <= until) this.#pods.delete(uid);
  }

  /** Records a claim. Drops the pod's claims of images that its spec no longer contains. */
  #claim(pod: Pod, image: string, imageRef?: string): void {
    const { uid } = pod.metadata;
    const previous = this.#pods.get(uid);
    const images = previous?.images ?? new Map<string, ClaimedImage>();
    // Only a changed spec can have dropped images. Comparing the images at every claim would take quadratic time for a
    // large pod.
    if (previous?.pod.spec !== pod.spec) {
      const needed = imageNamesOf(pod);
      for (const name of images.keys()) if (!needed.has(name)) images.delete(name);
    }
    const existing = images.get(image) ?? { listedName: listedName(image), imageRef: undefined };
    images.set(image, imageRef === undefined ? existing : { ...existing, imageRef });
    this.#lastNumber += 1;
    this.#pods.set(uid, { pod, number: this.#lastNumber, images });
  }
}

/** Returns the names of the images that a pod's containers and image volumes use. */
const imageNamesOf = ({ spec }: Pod): ReadonlySet<string> =>
  new Set([
    ...containersOf(spec).map(({ container: { image = '' } }) => image),
    ...(spec.volumes ?? []).map((volume) => volume.image?.reference ?? ''),
  ]);
