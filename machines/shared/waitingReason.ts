import type { WaitReason } from '../../kubernetes/status/view.ts';

/** Why a container does not come to run, in the words of a ContainerStateWaiting (C16). */
export interface WaitingReason {
  /** What stands in the way: the image is forgotten once it is found, the start once it has worked. */
  readonly with: 'image' | 'start';
  readonly reason: WaitReason;
  readonly message: string;
}

/** How long a failure is shown as such before it is shown as a back-off: the kubelet's next look at the pod changes it. */
export const SHOWN_FAILED_MS = 3_000;
