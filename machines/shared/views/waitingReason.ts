import type { WaitReason } from '../../../kubernetes/status/view.ts';

/** Reason why a container is not running, in terms of ContainerStateWaiting (C16). */
export interface WaitingReason {
  /** The step that failed. `image` is cleared once the image is present, `start` once the container has started. */
  readonly failedStep: 'image' | 'start';
  readonly reason: WaitReason;
  readonly message: string;
}

/**
 * Time in milliseconds for which a failure is reported before its back-off is reported instead. The kubelet switches at
 * the next sync of the pod.
 */
export const FAILURE_DISPLAY_MS = 3_000;
