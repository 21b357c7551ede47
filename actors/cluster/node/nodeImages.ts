/**
 * Lists the images for the node's status and caches the list briefly (`image_gc_manager.go` of `pkg/kubelet/images`).
 */

import { type Clock, steadyClock } from '../../../base/time/clock.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { NodeImage } from '../../../kubernetes/node/nodeObject.ts';

export interface NodeImagesDependencies {
  readonly cri: Pick<Cri, 'listImages'>;
  readonly clock: Clock;
  /** Maximum number of listed images. -1 means no limit. */
  readonly maxImages: number;
}

/** Maximum age of the cached list. */
const MAX_AGE_MS = 30_000;
/** Timeout for the runtime's response. After a timeout, the previous list is used so that the status is not delayed. */
const TIMEOUT_MS = 2_000;
const MAX_NAMES_PER_IMAGE = 5;

export class NodeImages {
  readonly #dependencies: NodeImagesDependencies;
  readonly #steadyClock: Clock;
  #images: readonly NodeImage[] = [];
  #lastListedAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: NodeImagesDependencies) {
    this.#dependencies = dependencies;
    this.#steadyClock = steadyClock(dependencies.clock);
  }

  /** Returns the images, largest first. */
  async list(signal: AbortSignal): Promise<readonly NodeImage[]> {
    const now = this.#steadyClock.now();
    if (now - this.#lastListedAt < MAX_AGE_MS) return this.#images;
    try {
      this.#images = await this.#fetch(signal);
      this.#lastListedAt = now;
    } catch {
      // Use the previous list while the runtime is unavailable. The node's conditions report why the runtime is
      // unavailable.
    }
    return this.#images;
  }

  async #fetch(signal: AbortSignal): Promise<NodeImage[]> {
    const { cri, maxImages } = this.#dependencies;
    const { images } = await cri.listImages({ filter: undefined }, { signal, timeoutMs: TIMEOUT_MS });
    const sortedImages = images
      .map(({ repoDigests, repoTags, size }) => ({
        names: [...repoDigests, ...repoTags].slice(0, MAX_NAMES_PER_IMAGE),
        sizeBytes: Number(size),
      }))
      .sort((left, right) => right.sizeBytes - left.sizeBytes);
    return maxImages < 0 ? sortedImages : sortedImages.slice(0, maxImages);
  }
}
