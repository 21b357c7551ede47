/** Explains why an image is missing, in terms of ContainerStateWaiting (C16). */
import type { Failure } from '../../base/failure.ts';
import type { WaitReason } from '../../kubernetes/status/view.ts';
import type { WaitingReason } from '../shared/views/waitingReason.ts';

const imageReason = (reason: WaitReason, message: string): WaitingReason => ({ failedStep: 'image', reason, message });

/** Returns the waiting reason for a failed image check. The message about an invalid name needs no prefix. */
export const inspectionFailedReason = (image: string, { reason, message }: Failure): WaitingReason =>
  reason === 'InvalidImageName'
    ? imageReason(reason, message)
    : imageReason('ImageInspectError', `Failed to inspect image "${image}": ${message}`);

export const pullFailedReason = ({ reason, message }: Failure): WaitingReason => imageReason(reason, message);

/** Returns the waiting reason between two attempts to pull. It includes the error of the last attempt. */
export const backOffReason = (image: string, lastReason: WaitingReason | undefined): WaitingReason =>
  imageReason('ImagePullBackOff', `Back-off pulling image "${image}": ${lastReason?.reason}: ${lastReason?.message}`);

export const neverPullReason = (image: string): WaitingReason =>
  imageReason('ErrImageNeverPull', `Container image "${image}" is not present with pull policy of Never`);
