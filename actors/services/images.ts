/** Fills the ports of images over the CRI. */
import type { Cri } from '../../cri/calls.ts';
import { runtimeMessageWithCode } from '../../cri/failure.ts';
import { AuthConfig, type PullImageRequest } from '../../cri/generated/runtime.ts';
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import { sandboxConfig } from '../../cri/sandboxConfig.ts';
import { goDuration } from '../../pod/api/duration.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { parseImageReference, withDefaultTag } from '../../pod/images/imageReference.ts';
import type { Credential } from '../../pod/images/keyring.ts';
import { beginningOf } from '../../pod/show/shortText.ts';
import type { Services } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import type { FindCredentials } from './nodeCredentials.ts';
import { withinLimit } from './timeLimit.ts';

interface ImageParts {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly node: () => NodeDescription;
  readonly findCredentials: FindCredentials;
}

export function imageServices({ cri, clock, node, findCredentials }: ImageParts): ImagePorts {
  return {
    findImage: async ({ pod, image }, options) => {
      const at = clock.now();
      const { spec } = named(pod, image);
      const { image: found } = await cri.imageStatus({ image: spec, verbose: false }, options);
      return { imageRef: found?.id || null, at };
    },
    pullImage: async ({ pod, image, limitMs }, { signal }) => {
      const { spec, repository } = named(pod, image);
      const credentials = await findCredentials(repository);
      const request = { image: spec, sandboxConfig: sandboxConfig(pod, 0, node()) };
      const startedAt = clock.now();
      const pull = (within: AbortSignal) =>
        pullWith(credentials, (auth) => pulled(cri, { ...request, auth }, within)).catch((cause) => {
          if (within.aborted && !signal.aborted) throw overdue(limitMs ?? 0, cause);
          if (!(cause instanceof NodeFailure) || cause.reason === 'RuntimeUnavailable') throw cause;
          throw failedPull(image, cause);
        });
      const imageRef = await (limitMs === undefined
        ? pull(signal)
        : withinLimit(pull, { clock, timeoutMs: limitMs, signal }));
      const finishedAt = clock.now();
      return { imageRef, sizeBytes: await sizeOf(cri, imageRef, signal), startedAt, finishedAt };
    },
  };
}

type ImagePorts = Pick<Services, 'findImage' | 'pullImage'>;

const overdue = (limitMs: number, cause: unknown): NodeFailure =>
  new NodeFailure('ErrImagePull', `the pull timed out after ${goDuration(limitMs)}`, { cause });

async function pulled(cri: Cri, request: PullImageRequest, signal: AbortSignal): Promise<string> {
  return (await cri.pullImage(request, { signal })).imageRef;
}

/** Tries one credential after the other, none where there is none; what went wrong with all of them is told together. */
async function pullWith(
  credentials: readonly Credential[],
  pull: (auth: AuthConfig | undefined) => Promise<string>,
): Promise<string> {
  if (credentials.length === 0) return pull(undefined);
  const failures: NodeFailure[] = [];
  for (const { username, password } of credentials) {
    try {
      return await pull(AuthConfig.fromPartial({ username, password }));
    } catch (error) {
      if (!(error instanceof NodeFailure) || error.reason === 'RuntimeUnavailable') throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  const messages = [...new Set(failures.map(runtimeMessageWithCode))];
  throw first !== undefined && messages.length === 1
    ? first
    : new NodeFailure('RuntimeError', `[${messages.join(', ')}]`);
}

/** What a registry's fault or a bad signature is called, when the runtime begins its error with that word. */
function failedPull(image: string, cause: NodeFailure): NodeFailure {
  const said = runtimeMessageWithCode(cause);
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

/** An image as the runtime is asked for it on behalf of a pod, and where its registry has it. */
function named(pod: Pod, image: string) {
  const reference = parseImageReference(image);
  if ('refusal' in reference) {
    const name = beginningOf(image, LONGEST_SHOWN);
    const why = beginningOf(reference.refusal, LONGEST_SHOWN);
    const message = `Failed to apply default image tag "${name}": couldn't parse image name "${name}": ${why}`;
    throw new NodeFailure('InvalidImageName', message);
  }
  const annotations = pod.metadata.annotations ?? {};
  return { spec: imageSpec(withDefaultTag(image, reference), annotations), repository: reference.repository };
}

/** More of what is no image's name is not told. */
const LONGEST_SHOWN = 300;

/** An image as the runtime is asked for it. */
export const imageSpec = (image: string, annotations: Readonly<Record<string, string>> = {}) => ({
  image,
  annotations,
  userSpecifiedImage: image,
  runtimeHandler: '',
  imageRef: '',
});
