/** What a failed look at, or pull of, an image leaves behind, whoever needs it: the wait, and the words of a status (C16). */

import type { Pod } from '../../pod/api/schema/pod.ts';
import type { Failure } from '../../pod/failure.ts';
import { parseImageReference } from '../../pod/images/imageReference.ts';
import { nextBackOff, pullBackOff } from '../../pod/lifecycle/backoff.ts';
import { namespacedName } from '../../pod/show/shownName.ts';
import { SHOWN_FAILED_MS, type WaitingReason } from '../container/waitingReason.ts';
import type { ContainerEvent, VolumeEvent } from '../shared/events.ts';
import { isRuntimeAway, RUNTIME_AWAY_MS } from '../shared/failure.ts';

/** How long a pull that has its slot may take: what the limiter has said. */
export const pullLimit = (event: ContainerEvent | VolumeEvent): { pullLimitMs: number | undefined } => ({
  pullLimitMs: event.type === 'slot.granted' ? event.limitMs : undefined,
});

/**
 * The claim of a pull. One that is tried again stands behind all others, however early its pod came: a registry that
 * never answers would have the slot each time.
 */
export const pullClaim = (seeker: Seeker & { pod: Pod; ticket: number }, image: string) => ({
  ticket: seeker.pullDelayMs > 0 ? Number.MAX_SAFE_INTEGER : seeker.ticket,
  purpose: `the pull of ${image} for ${namespacedName(seeker.pod)}`,
  origin: registryOf(image),
});

/** Of a name that is none there is no registry: it is not pulled. */
function registryOf(image: string): string {
  const reference = parseImageReference(image);
  return 'refusal' in reference ? '' : (reference.repository.split('/')[0] ?? '');
}

/** What who needs an image knows of the tries to get it. */
interface Seeker {
  /** The wait after the last try that failed, in milliseconds. */
  readonly pullDelayMs: number;
  readonly waitingReason?: WaitingReason | undefined;
}

interface Setback extends Seeker {
  readonly failure: Failure;
  readonly retryAt: number;
}

const imageReason = (reason: string, message: string): WaitingReason => ({ with: 'image', reason, message });

/** A look for the image failed. */
export function failedLook(seeker: Seeker, image: string, failure: Failure): Setback {
  const { reason, message } = failure;
  if (reason === 'InvalidImageName') return setback(seeker, failure, imageReason(reason, message));
  const words = `Failed to inspect image "${image}": ${message}`;
  return setback(seeker, failure, imageReason('ImageInspectError', words));
}

/** A pull failed. */
export const failedPull = (seeker: Seeker, failure: Failure): Setback =>
  setback(seeker, failure, imageReason(failure.reason, failure.message));

/** That the runtime is away is the node's own business: it says nothing of the image, and its return ends the wait. */
function setback({ pullDelayMs, waitingReason }: Seeker, failure: Failure, now: WaitingReason): Setback {
  if (isRuntimeAway(failure)) return { failure, pullDelayMs, retryAt: failure.at + RUNTIME_AWAY_MS, waitingReason };
  const delayMs = nextBackOff(pullDelayMs, pullBackOff);
  return { failure, pullDelayMs: delayMs, retryAt: failure.at + delayMs, waitingReason: now };
}

/** How long a failed pull is shown as such before it is shown as a back-off, in milliseconds. */
export const shownFailedMs = ({ pullDelayMs }: Seeker): number => Math.min(SHOWN_FAILED_MS, pullDelayMs);

/** Between two tries to pull: it names what the last one said. */
export const pullBackOffReason = ({ waitingReason }: Seeker, image: string): WaitingReason =>
  imageReason(
    'ImagePullBackOff',
    `Back-off pulling image "${image}": ${waitingReason?.reason}: ${waitingReason?.message}`,
  );

export const neverPullReason = (image: string): WaitingReason =>
  imageReason('ErrImageNeverPull', `Container image "${image}" is not present with pull policy of Never`);
