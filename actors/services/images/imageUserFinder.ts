import { NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { type ImageUser, imageUser } from '../../../cri/config/imageUser.ts';
import { imageSpec } from '../../../cri/images/imageSpec.ts';

/** Returns the user of an image. Rejects with `NotFound` if the runtime no longer has the image. */
export type FindImageUser = (imageRef: string, options: CallOptions) => Promise<ImageUser>;

/**
 * Matches references that contain a digest. Image users are cached only for these references, because a tag may be
 * moved to a different image.
 */
const DIGEST_PATTERN = /(^|:)[0-9a-f]{64}$/;
const MAX_CACHED_USERS = 256;

/** Creates a finder that queries the runtime once per digest. */
export function createImageUserFinder(cri: Pick<Cri, 'imageStatus'>): FindImageUser {
  const cache = new Map<string, ImageUser>();
  return async (imageRef, options) => {
    const cachedUser = cache.get(imageRef);
    if (cachedUser !== undefined) return cachedUser;
    const { image } = await cri.imageStatus({ image: imageSpec(imageRef), verbose: false }, options);
    if (image === undefined) throw new NodeFailure('NotFound', `image ${imageRef} no longer exists`);
    const user = imageUser(image);
    if (cache.size === MAX_CACHED_USERS) cache.clear();
    if (DIGEST_PATTERN.test(imageRef)) cache.set(imageRef, user);
    return user;
  };
}
