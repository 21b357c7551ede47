/** What a container or a volume keeps of the image that it waits for. */
import type { Failure } from '../../base/failure.ts';
import type { ImageFact } from '../shared/events.ts';
import type { WaitingReason } from '../shared/waitingReason.ts';

export interface AwaitedImage {
  /** The wait after the last failure to get its image, in milliseconds. */
  readonly imageDelayMs: number;
  readonly failure?: Failure | undefined;
  /** Why it is not there, as a status shows it. */
  readonly waitingReason?: WaitingReason | undefined;
}

/** How the image's actor gets on, as it has told. */
export const awaitedImage = ({ delayMs, failure, waitingReason }: ImageFact): AwaitedImage => ({
  imageDelayMs: delayMs,
  failure,
  waitingReason,
});

/** It is there, or another is wanted: what kept it is forgotten, a failed start is not. */
export const forgottenImage = ({ waitingReason }: Pick<AwaitedImage, 'waitingReason'>): AwaitedImage => ({
  imageDelayMs: 0,
  failure: undefined,
  waitingReason: waitingReason?.with === 'image' ? undefined : waitingReason,
});

/** The state in which it is waited for; an actor that is stopped on the way out gives no pull slot back by itself. */
export const gettingImage = {
  tags: ['working', 'gettingImage'],
  meta: { waitsFor: 'its image' },
  exit: 'releasePull',
} as const;
