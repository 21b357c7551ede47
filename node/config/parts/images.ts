import * as z from 'zod/mini';
import { VERIFICATION_POLICIES } from '../../../kubernetes/images/imageVerification.ts';
import { boolean, duration, endpoint, list, oneOf, text, whole } from '../fields.ts';

/** Pulling images and collecting the unused ones. */
export const images = () => ({
  imageServiceEndpoint: z.optional(endpoint),
  serializeImagePulls: z.optional(boolean),
  maxParallelImagePulls: z.optional(whole(1)),
  /** Not a kubelet's: how long one pull may take. */
  imagePullTimeout: z.optional(duration()),
  /** Not a kubelet's: how long pulls may hold up those from other registries. */
  slowImagePullAfter: z.optional(duration()),
  registryPullQPS: z.optional(whole()),
  registryBurst: z.optional(whole()),
  imagePullCredentialsVerificationPolicy: z.optional(oneOf('', ...VERIFICATION_POLICIES)),
  preloadedImagesVerificationAllowlist: z.optional(list(text)),
  imageMinimumGCAge: z.optional(duration()),
  imageMaximumGCAge: z.optional(duration()),
  imageGCHighThresholdPercent: z.optional(whole(0, 100)),
  imageGCLowThresholdPercent: z.optional(whole(0, 100)),
});
