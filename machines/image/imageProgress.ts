/** Defines context fields of a container or volume that waits for an image. */
import type { Failure } from '../../base/failure.ts';
import type { ImageFact } from '../shared/events/events.ts';
import type { WaitingReason } from '../shared/views/waitingReason.ts';

export interface ImageProgress {
  /** Back-off delay after the last failed check or pull of the image, in milliseconds. */
  readonly imageDelayMs: number;
  readonly failure?: Failure | undefined;
  /** Reason why the image is missing, as reported in the status. */
  readonly waitingReason?: WaitingReason | undefined;
}

/** Returns the context fields for the progress that the image's actor has reported. */
export const imageProgress = ({ delayMs, failure, waitingReason }: ImageFact): ImageProgress => ({
  imageDelayMs: delayMs,
  failure,
  waitingReason,
});

/**
 * Clears the image's failure once the image is present or a different one is needed. The reason for a failed start is
 * retained.
 */
export const clearedImageProgress = ({ waitingReason }: Pick<ImageProgress, 'waitingReason'>): ImageProgress => ({
  imageDelayMs: 0,
  failure: undefined,
  waitingReason: waitingReason?.failedStep === 'image' ? undefined : waitingReason,
});

/**
 * State in which a container or volume waits for its image. Exiting this state releases the pull slot, because an image
 * actor that is stopped does not release the slot itself.
 */
export const gettingImageState = {
  tags: ['working', 'gettingImage'],
  meta: { waitsFor: 'its image' },
  exit: 'releasePullSlot',
} as const;
