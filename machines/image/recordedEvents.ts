/** What is told of an image, whoever needs it: the kubelet's reasons and messages. */
import { goDuration } from '../../base/duration.ts';
import type { Failure } from '../../base/failure.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import { failureEvent } from '../shared/failureEvents.ts';
import type { PortTypes } from '../shared/ports.ts';

/** The image that is there is used; the kubelet's words say that nothing has to be proved to the registry. */
export const imagePresent = (image: string): EventMessage => ({
  reason: 'Pulled',
  message: `Container image "${image}" already present on machine and can be accessed by the pod`,
});

export const imageMissing = (image: string): EventMessage =>
  warning('ErrImageNeverPull', `Container image "${image}" is not present with pull policy of Never`);

/** What the kubelet tells of a container besides, when an image that it needs cannot be had. */
export const imageError = (reason: string): EventMessage => warning('Failed', `Error: ${reason}`);

/** The same of a look for the image that failed. */
export const inspectionError = (failure: Failure): EventMessage[] =>
  failureEvent(
    failure,
    'Failed',
    `Error: ${failure.reason === 'InvalidImageName' ? failure.reason : 'ImageInspectError'}`,
  );

export const pullBegins = (image: string): EventMessage => ({ reason: 'Pulling', message: `Pulling image "${image}"` });

/** `soughtAt` is when it was found to be absent: from then on it waited for its turn. */
export function pullDone(image: string, soughtAt: number, pulled: PortTypes['pullImage']['output']): EventMessage {
  const took = goDuration(pulled.finishedAt - pulled.startedAt);
  const waited = goDuration(pulled.finishedAt - soughtAt);
  const message = `Successfully pulled image "${image}" in ${took} (${waited} including waiting). Image size: ${pulled.sizeBytes} bytes.`;
  return { reason: 'Pulled', message };
}

/** It could not be looked for; a bad name says so itself. */
export function inspectionFailed(image: string, failure: Failure): EventMessage[] {
  const { reason, message } = failure;
  const words = reason === 'InvalidImageName' ? message : `Failed to inspect image "${image}": ${message}`;
  return failureEvent(failure, 'InspectFailed', words);
}

export const pullFailed = (image: string, failure: Failure): EventMessage[] =>
  failureEvent(failure, 'Failed', `Failed to pull image "${image}": ${failure.message}`);

export const pullBacksOff = (image: string): EventMessage => ({
  reason: 'BackOff',
  message: `Back-off pulling image "${image}"`,
});
