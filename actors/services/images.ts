/** Fills the ports of images over the CRI. */
import type { Cri } from '../../cri/calls.ts';
import { runtimeWordsWithCode } from '../../cri/failure.ts';
import { NodeFailure } from '../../pod/failure.ts';
import type { Services } from '../boundary.ts';
import type { Clock } from '../clock.ts';

/** A pull of a large image over a slow line takes its time; nobody else waits for it but those who queue for a pull. */
const PULL_TIMEOUT_MS = 1_800_000;
/** What a reference to an image may look like: `[registry[:port]/]name[:tag][@digest]`. */
const REFERENCE = /^[a-zA-Z0-9]+([._:/-][a-zA-Z0-9_.-]+|[._/-])*(@[a-z0-9+._-]+:[0-9a-f]{32,})?$/;

export function imageServices(cri: Cri, clock: Clock): Pick<Services, 'findImage' | 'pullImage'> {
  return {
    findImage: async ({ image }, options) => {
      const at = clock.now();
      const { image: found } = await cri.imageStatus({ image: specOf(image), verbose: false }, options);
      return { imageRef: found?.id || null, at };
    },
    pullImage: async ({ image }, { signal }) => {
      const request = { image: specOf(image), auth: undefined, sandboxConfig: undefined };
      const startedAt = clock.now();
      try {
        const { imageRef } = await cri.pullImage(request, { signal, timeoutMs: PULL_TIMEOUT_MS });
        const finishedAt = clock.now();
        return { imageRef, sizeBytes: await sizeOf(cri, imageRef, signal), startedAt, finishedAt };
      } catch (cause) {
        if (!(cause instanceof NodeFailure) || cause.reason === 'RuntimeUnavailable') throw cause;
        throw failedPull(image, cause);
      }
    },
  };
}

/** What a registry's fault or a bad signature is called, when the runtime begins its error with that word. */
function failedPull(image: string, cause: NodeFailure): NodeFailure {
  const said = runtimeWordsWithCode(cause);
  const after = (word: string) => said.slice(word.length);
  if (said.startsWith(UNAVAILABLE)) {
    const message = `image pull failed for ${image} because the registry is unavailable${after(UNAVAILABLE)}`;
    return new NodeFailure(UNAVAILABLE, message, { cause });
  }
  if (said.startsWith(UNSIGNED)) {
    const message = `image pull failed for ${image} because the signature validation failed${after(UNSIGNED)}`;
    return new NodeFailure(UNSIGNED, message, { cause });
  }
  return new NodeFailure('ErrImagePull', said, { cause });
}

const UNAVAILABLE = 'RegistryUnavailable';
const UNSIGNED = 'SignatureValidationFailed';

/** Nothing but a message tells the size: an image without one is as good. */
async function sizeOf(cri: Cri, imageRef: string, signal: AbortSignal): Promise<number> {
  try {
    const { image } = await cri.imageStatus({ image: imageSpec(imageRef), verbose: false }, { signal });
    return Number(image?.size ?? 0);
  } catch {
    return 0;
  }
}

function specOf(image: string) {
  if (!REFERENCE.test(image)) {
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
    throw new NodeFailure('InvalidImageName', message);
  }
  return imageSpec(image);
}

/** An image as the runtime is asked for it. */
export const imageSpec = (image: string) => ({
  image,
  annotations: {},
  userSpecifiedImage: image,
  runtimeHandler: '',
  imageRef: '',
});
