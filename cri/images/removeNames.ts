/** Removes individual names of an image, for which the CRI has no call. */
import { NodeFailure } from '../../base/failure.ts';
import { parseImageReference } from '../../kubernetes/images/imageReference.ts';
import type { Cri } from '../client/calls.ts';
import type { Image } from '../generated/runtime.ts';
import type { Pause } from '../managed/containerd/process.ts';
import { imageSpec } from './imageSpec.ts';
import { MAX_POLLS, POLL_INTERVAL_MS, requireCtr, runCtrImages } from './importImages.ts';

/** The names that a request removes, and the names that remain. */
export interface NamesToRemove {
  readonly removedNames: readonly string[];
  /** Remaining names. Empty if the image itself is removed. */
  readonly remainingNames: readonly string[];
}

/**
 * Returns the names of an image that a request to remove `name` removes, and the names that remain. As with "docker
 * rmi", a request for a name removes that name and, if it is the last tag of its repository, the digests of that
 * repository. A request for an ID removes all names. Throws if the name is ambiguous.
 */
export function namesToRemove(
  name: string,
  { id, repoTags, repoDigests }: Pick<Image, 'id' | 'repoTags' | 'repoDigests'>,
): NamesToRemove {
  const names = [...repoTags, ...repoDigests];
  const normalizedName = toFullName(name);
  const matchingName =
    names.find((candidate) => candidate === normalizedName) ?? (names.length === 1 ? names[0] : undefined);
  if (matchingName === undefined) {
    if (matchesId(name, id)) return { removedNames: names, remainingNames: [] };
    throw new NodeFailure(
      'BadRequest',
      `image "${name}" has the names ${names.join(', ')}: use one of these, or its ID`,
    );
  }
  const repository = repositoryName(matchingName);
  const isLastTag = !repoTags.some((tag) => tag !== matchingName && repositoryName(tag) === repository);
  const isRemoved = (candidate: string) =>
    candidate === matchingName ||
    (isLastTag && repoDigests.includes(candidate) && repositoryName(candidate) === repository);
  return { removedNames: names.filter(isRemoved), remainingNames: names.filter((candidate) => !isRemoved(candidate)) };
}

/** Whether a name is a prefix of the image's ID. */
const matchesId = (name: string, id: string): boolean => {
  const hexDigits = name.replace(/^sha256:/, '');
  return /^[0-9a-f]+$/.test(hexDigits) && id.replace(/^sha256:/, '').startsWith(hexDigits);
};

function toFullName(name: string): string {
  const reference = parseImageReference(name);
  if ('refusal' in reference) return name;
  const { repository, tag, digest } = reference;
  return digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
}

function repositoryName(name: string): string {
  const reference = parseImageReference(name);
  return 'refusal' in reference ? name : reference.repository;
}

interface RemovalInput {
  readonly cri: Pick<Cri, 'version' | 'imageStatus' | 'removeImage'>;
  /** Endpoint of the image service (`unix:///…`). */
  readonly endpoint: string;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

/**
 * Removes some of an image's names. On containerd this requires `ctr`, because RemoveImage removes all names of the
 * image. On CRI-O, RemoveImage removes only the given name.
 */
export async function removeNames(
  { removedNames, remainingNames }: NamesToRemove,
  { cri, endpoint, pause, signal }: RemovalInput,
): Promise<void> {
  const { runtimeName } = await cri.version({ version: 'v1' }, { signal });
  if (runtimeName === 'cri-o') {
    for (const name of removedNames) await cri.removeImage({ image: imageSpec(name) }, { signal });
    return;
  }
  if (runtimeName !== 'containerd') {
    const problem = `${runtimeName} cannot remove ${removedNames.join(' and ')} without ${remainingNames.join(', ')}`;
    throw new NodeFailure('Unimplemented', `${problem}: remove the image by its ID, or use the tools of that runtime`);
  }
  await requireCtr('removes single names');
  await runCtrImages(endpoint, ['rm', ...removedNames], { signal });
  for (const name of removedNames) await waitUntilRemoved(name, { cri, pause, signal });
}

/** Waits until the CRI no longer lists the name, because pods that are started afterwards must not use it. */
async function waitUntilRemoved(name: string, { cri, pause, signal }: Omit<RemovalInput, 'endpoint'>): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
    if (image === undefined || ![...image.repoTags, ...image.repoDigests].includes(name)) return;
    await pause(POLL_INTERVAL_MS);
  }
  const seconds = (MAX_POLLS * POLL_INTERVAL_MS) / 1_000;
  throw new NodeFailure('RuntimeError', `${name} was removed, but the runtime still shows it after ${seconds} s`);
}
