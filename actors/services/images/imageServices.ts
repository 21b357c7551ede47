/** Implements the image ports over the CRI. */

import { NodeFailure } from '../../../base/failure.ts';
import { truncate } from '../../../base/text/shortText.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { goDuration } from '../../../base/time/duration.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { runtimeMessageWithCode } from '../../../cri/client/failure.ts';
import { sandboxConfig } from '../../../cri/config/sandboxConfig.ts';
import { AuthConfig, type PullImageRequest } from '../../../cri/generated/runtime.ts';
import { imageSpec } from '../../../cri/images/imageSpec.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { parseImageReference, withDefaultTag } from '../../../kubernetes/images/imageReference.ts';
import type { Credential } from '../../../kubernetes/images/keyring.ts';
import { missingSecretsEvents } from '../../../kubernetes/images/pullSecrets.ts';
import type { ImageCheck } from '../../../machines/shared/events/imageCheck.ts';
import type { PortTypes } from '../../../machines/shared/ports.ts';
import type { PortServices } from '../../boundary.ts';
import type { ImageClaims } from '../../images/imageClaims.ts';
import type { PodCredentials } from '../../images/podCredentials.ts';
import type { PullProofs } from '../../images/pullProofs.ts';
import { withTimeout } from '../withTimeout.ts';

interface ImageServiceDependencies {
  readonly cri: Cri;
  readonly clock: Clock;
  readonly node: () => NodeDescription;
  readonly credentials: PodCredentials;
  readonly proofs: Pick<PullProofs, 'mustPull' | 'pull'>;
  readonly claims: Pick<ImageClaims, 'claimWhile'>;
}

export const imageServices = (dependencies: ImageServiceDependencies): ImagePorts => ({
  findImage: (input, options) =>
    dependencies.claims.claimWhile(input.pod, input.image, {
      find: () => findImage(dependencies, input, options),
      signal: options.signal,
    }),
  pullImage: (input, options) =>
    dependencies.claims.claimWhile(input.pod, input.image, {
      find: () => pullImage(dependencies, input, options),
      signal: options.signal,
    }),
});

async function findImage(
  { cri, clock, credentials, proofs }: ImageServiceDependencies,
  { pod, image, policy }: PortTypes['findImage']['input'],
  { signal }: Abortable,
): Promise<ImageCheck> {
  const at = clock.now();
  const { spec, repository } = resolveImage(pod, image);
  const [{ image: presentImage }, missing] = await Promise.all([
    cri.imageStatus({ image: spec, verbose: false }, { signal }),
    credentials.findMissingSecrets(pod, { signal }),
  ]);
  const imageRef = presentImage?.id || null;
  const warnings = missingSecretsEvents(missing);
  const result = { imageRef, at, ...(warnings.length > 0 ? { warnings } : {}) };
  if (imageRef === null || policy === 'Always') return result;
  // Treat an invalid Secret as missing credentials, because it does not prove access. The later pull fails with the
  // reason.
  const findCredentials = () => credentials.findCredentials(pod, repository, { signal }).catch(() => []);
  return (await proofs.mustPull({ image, imageRef }, findCredentials, { signal }))
    ? { ...result, isUnproven: true }
    : result;
}

async function pullImage(
  { cri, clock, node, credentials, proofs }: ImageServiceDependencies,
  { pod, image, limitMs }: PortTypes['pullImage']['input'],
  { signal }: Abortable,
): Promise<PortTypes['pullImage']['output']> {
  const { spec, repository } = resolveImage(pod, image);
  const request = { image: spec, sandboxConfig: sandboxConfig(pod, 0, node()) };
  let startedAt = clock.now();
  const pullImage = async (within: AbortSignal) => {
    const authConfigs = await credentials.findCredentials(pod, repository, { signal: within });
    const attemptPull = () => {
      startedAt = clock.now();
      return pullWithCredentials(authConfigs, (auth) => pullFromRuntime(cri, { ...request, auth }, within));
    };
    return proofs.pull(image, attemptPull, { signal: within });
  };
  const pullOrExplain = (within: AbortSignal) =>
    pullImage(within).catch((cause) => {
      if (within.aborted && !signal.aborted) throw pullTimeout(limitMs ?? 0, cause);
      if (!(cause instanceof NodeFailure) || UNCHANGED_REASONS.has(cause.reason)) throw cause;
      throw toPullFailure(image, cause);
    });
  const { imageRef } = await (limitMs === undefined
    ? pullOrExplain(signal)
    : withTimeout(pullOrExplain, { clock, timeoutMs: limitMs, signal }));
  const finishedAt = clock.now();
  return { imageRef, sizeBytes: await readImageSize(cri, imageRef, signal), startedAt, finishedAt };
}

/** Errors that are reported unchanged, because they do not contain the runtime's message about the image. */
const UNCHANGED_REASONS: ReadonlySet<string> = new Set(['RuntimeUnavailable', 'ErrImagePull']);

interface Abortable {
  readonly signal: AbortSignal;
}

type ImagePorts = Pick<PortServices, 'findImage' | 'pullImage'>;

const pullTimeout = (limitMs: number, cause: unknown): NodeFailure =>
  new NodeFailure('ErrImagePull', `the pull timed out after ${goDuration(limitMs)}`, { cause });

async function pullFromRuntime(cri: Cri, request: PullImageRequest, signal: AbortSignal): Promise<string> {
  return (await cri.pullImage(request, { signal })).imageRef;
}

/**
 * Tries the credentials sequentially, or pulls anonymously if there are none. The error contains the failure of each
 * attempt.
 */
export async function pullWithCredentials(
  credentials: readonly Credential[],
  pullImage: (auth: AuthConfig | undefined) => Promise<string>,
): Promise<{ readonly imageRef: string; readonly credential: Credential | undefined }> {
  if (credentials.length === 0) return { imageRef: await pullImage(undefined), credential: undefined };
  const failures: NodeFailure[] = [];
  for (const credential of credentials) {
    const { username, password } = credential;
    try {
      return { imageRef: await pullImage(AuthConfig.fromPartial({ username, password })), credential };
    } catch (error) {
      if (!(error instanceof NodeFailure) || error.reason === 'RuntimeUnavailable') throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  const errorMessages = [...new Set(failures.map(runtimeMessageWithCode))];
  throw first !== undefined && errorMessages.length === 1
    ? first
    : new NodeFailure('RuntimeError', `[${errorMessages.join(', ')}]`);
}

/**
 * Converts the runtime's error to a failure with the kubelet's reason. The runtime marks registry outages and invalid
 * signatures with a prefix.
 */
function toPullFailure(image: string, cause: NodeFailure): NodeFailure {
  const runtimeError = runtimeMessageWithCode(cause);
  const messageAfter = (word: string) => runtimeError.slice(word.length);
  if (runtimeError.startsWith(UNAVAILABLE_REASON)) {
    const message = `image pull failed for ${image} because the registry is unavailable${messageAfter(UNAVAILABLE_REASON)}`;
    return new NodeFailure(UNAVAILABLE_REASON, message, { cause });
  }
  if (runtimeError.startsWith(SIGNATURE_REASON)) {
    const message = `image pull failed for ${image} because the signature validation failed${messageAfter(SIGNATURE_REASON)}`;
    return new NodeFailure(SIGNATURE_REASON, message, { cause });
  }
  return new NodeFailure('ErrImagePull', runtimeError, { cause });
}

const UNAVAILABLE_REASON = 'RegistryUnavailable';
const SIGNATURE_REASON = 'SignatureValidationFailed';

/** Returns the size of an image, or 0 if it is unknown. The size is only shown in a message. */
async function readImageSize(cri: Cri, imageRef: string, signal: AbortSignal): Promise<number> {
  try {
    const { image } = await cri.imageStatus({ image: imageSpec(imageRef), verbose: false }, { signal });
    return Number(image?.size ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the image specification to send to the runtime for a pod, and the image's repository. */
function resolveImage(pod: Pod, image: string) {
  const imageReference = parseImageReference(image);
  if ('refusal' in imageReference) {
    const name = truncate(image, MAX_NAME_LENGTH);
    const why = truncate(imageReference.refusal, MAX_NAME_LENGTH);
    const message = `Failed to apply default image tag "${name}": couldn't parse image name "${name}": ${why}`;
    throw new NodeFailure('InvalidImageName', message);
  }
  const annotations = pod.metadata.annotations ?? {};
  return { spec: imageSpec(withDefaultTag(image, imageReference), annotations), repository: imageReference.repository };
}

/** Maximum length of an invalid image name, and of the reason why it is invalid, in an error message. */
const MAX_NAME_LENGTH = 300;
