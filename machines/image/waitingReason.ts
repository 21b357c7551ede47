/** Why an image is not there, in the words of a ContainerStateWaiting (C16). */
import type { Failure } from '../../base/failure.ts';
import type { WaitReason } from '../../kubernetes/status/view.ts';
import type { WaitingReason } from '../shared/waitingReason.ts';

const imageReason = (reason: WaitReason, message: string): WaitingReason => ({ with: 'image', reason, message });

/** It could not be looked for; a bad name says so itself. */
export const inspectReason = (image: string, { reason, message }: Failure): WaitingReason =>
  reason === 'InvalidImageName'
    ? imageReason(reason, message)
    : imageReason('ImageInspectError', `Failed to inspect image "${image}": ${message}`);

export const pullReason = ({ reason, message }: Failure): WaitingReason => imageReason(reason, message);

/** Between two tries to pull: it names what the last one said. */
export const backOffReason = (image: string, last: WaitingReason | undefined): WaitingReason =>
  imageReason('ImagePullBackOff', `Back-off pulling image "${image}": ${last?.reason}: ${last?.message}`);

export const neverPullReason = (image: string): WaitingReason =>
  imageReason('ErrImageNeverPull', `Container image "${image}" is not present with pull policy of Never`);
