/** The images of a node, as its status lists them: looked at now and then (`image_gc_manager.go` of `pkg/kubelet/images`). */

import { type Clock, steadyClock } from '../../../base/clock.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { NodeImage } from '../../../kubernetes/node/nodeObject.ts';

export interface NodeImagesParts {
  readonly cri: Pick<Cri, 'listImages'>;
  readonly clock: Clock;
  /** How many of them are listed; -1: all. */
  readonly most: number;
}

/** The list may be so old. */
const FRESH_MS = 30_000;
/** A runtime that takes longer holds up nothing: what it had stands. */
const ANSWER_WITHIN_MS = 2_000;
const MOST_NAMES = 5;

export class NodeImages {
  readonly #parts: NodeImagesParts;
  readonly #steady: Clock;
  #images: readonly NodeImage[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: NodeImagesParts) {
    this.#parts = parts;
    this.#steady = steadyClock(parts.clock);
  }

  /** The largest first. */
  async list(signal: AbortSignal): Promise<readonly NodeImage[]> {
    const now = this.#steady.now();
    if (now - this.#listedAt < FRESH_MS) return this.#images;
    try {
      this.#images = await this.#ask(signal);
      this.#listedAt = now;
    } catch {
      // As long as a runtime is away nobody knows of others: the node says why it is not ready.
    }
    return this.#images;
  }

  async #ask(signal: AbortSignal): Promise<NodeImage[]> {
    const { cri, most } = this.#parts;
    const { images } = await cri.listImages({ filter: undefined }, { signal, timeoutMs: ANSWER_WITHIN_MS });
    const all = images
      .map(({ repoDigests, repoTags, size }) => ({
        names: [...repoDigests, ...repoTags].slice(0, MOST_NAMES),
        sizeBytes: Number(size),
      }))
      .sort((one, other) => other.sizeBytes - one.sizeBytes);
    return most < 0 ? all : all.slice(0, most);
  }
}
