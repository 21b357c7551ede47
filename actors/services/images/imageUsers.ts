/** Whom images run as. */

import { NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import { type ImageUser, imageUser } from '../../../cri/config/imageUser.ts';
import { imageSpec } from '../../../cri/images/imageSpec.ts';

/** Gives the user of an image that is there; rejects with `NotFound` when it is gone. */
export type FindImageUser = (imageRef: string, options: CallOptions) => Promise<ImageUser>;

/** What a digest stands for never changes; a tag may be moved. */
const DIGEST = /(^|:)[0-9a-f]{64}$/;
const MOST_KNOWN = 256;

/** Asks the runtime, once for each digest. */
export function imageUsers(cri: Pick<Cri, 'imageStatus'>): FindImageUser {
  const known = new Map<string, ImageUser>();
  return async (imageRef, options) => {
    const before = known.get(imageRef);
    if (before !== undefined) return before;
    const { image } = await cri.imageStatus({ image: imageSpec(imageRef), verbose: false }, options);
    if (image === undefined) throw new NodeFailure('NotFound', `image ${imageRef} no longer exists`);
    const user = imageUser(image);
    if (known.size === MOST_KNOWN) known.clear();
    if (DIGEST.test(imageRef)) known.set(imageRef, user);
    return user;
  };
}
