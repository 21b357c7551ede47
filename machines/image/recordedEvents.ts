/** Builds the events about images, with the kubelet's reasons and messages. */

import type { Failure } from '../../base/failure.ts';
import { goDuration } from '../../base/time/duration.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import { failureEvents } from '../shared/events/failureEvents.ts';
import type { PortTypes } from '../shared/ports.ts';

/**
 * Returns the event for an image that is present and need not be pulled. In the kubelet's wording, it also says that
 * the pod may access the image.
 */
export const imagePresentEvent = (image: string): EventMessage => ({
  reason: 'Pulled',
  message: `Container image "${image}" already present on machine and can be accessed by the pod`,
});

export const imageMissingEvent = (image: string): EventMessage =>
  warning('ErrImageNeverPull', `Container image "${image}" is not present with pull policy of Never`);

/** Returns the additional event that the kubelet records for a container whose image is not available. */
export const imageErrorEvent = (reason: string): EventMessage => warning('Failed', `Error: ${reason}`);

/** Returns the additional event for a container that a failed image check blocks. */
export const inspectionErrorEvents = (failure: Failure): EventMessage[] =>
  failureEvents(
    failure,
    'Failed',
    `Error: ${failure.reason === 'InvalidImageName' ? failure.reason : 'ImageInspectError'}`,
  );

export const pullingEvent = (image: string): EventMessage => ({
  reason: 'Pulling',
  message: `Pulling image "${image}"`,
});

/**
 * Returns the event of a completed pull. `foundAbsentAt` is the time at which the image was found to be absent and the
 * wait for a pull slot started.
 */
export function pulledEvent(
  image: string,
  foundAbsentAt: number,
  pullResult: PortTypes['pullImage']['output'],
): EventMessage {
  const pullDuration = goDuration(pullResult.finishedAt - pullResult.startedAt);
  const totalDuration = goDuration(pullResult.finishedAt - foundAbsentAt);
  const message = `Successfully pulled image "${image}" in ${pullDuration} (${totalDuration} including waiting). Image size: ${pullResult.sizeBytes} bytes.`;
  return { reason: 'Pulled', message };
}

/** Returns the event for a failed image check. The message about an invalid name needs no prefix. */
export function inspectionFailedEvents(image: string, failure: Failure): EventMessage[] {
  const { reason, message } = failure;
  const eventMessage = reason === 'InvalidImageName' ? message : `Failed to inspect image "${image}": ${message}`;
  return failureEvents(failure, 'InspectFailed', eventMessage);
}

export const pullFailedEvents = (image: string, failure: Failure): EventMessage[] =>
  failureEvents(failure, 'Failed', `Failed to pull image "${image}": ${failure.message}`);

export const pullBackOffEvent = (image: string): EventMessage => ({
  reason: 'BackOff',
  message: `Back-off pulling image "${image}"`,
});
