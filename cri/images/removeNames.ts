/** The removal of some of an image's names, for which the CRI has no call. */
import { NodeFailure } from '../../base/failure.ts';
import { parseImageReference } from '../../kubernetes/images/imageReference.ts';
import type { Cri } from '../calls.ts';
import type { Image } from '../generated/runtime.ts';
import type { Pause } from '../managed/process.ts';
import { imageSpec } from './imageSpec.ts';
import { ctrImages, expectCtr, LOOK_MS, LOOKS } from './importImages.ts';

/** Names that a request removes, and those that are left. */
export interface NamesToRemove {
  readonly removed: readonly string[];
  /** Empty if the image itself is removed. */
  readonly left: readonly string[];
}

/**
 * Splits the names of an image by what a request for `name` removes, as "docker rmi" does: a name removes itself and, if it
 * is the last tag of its repository, the digests there. An ID removes all. Throws if it is unclear which name is meant.
 */
export function namesToRemove(
  name: string,
  { id, repoTags, repoDigests }: Pick<Image, 'id' | 'repoTags' | 'repoDigests'>,
): NamesToRemove {
  const names = [...repoTags, ...repoDigests];
  const full = fullNameOf(name);
  const match = names.find((each) => each === full) ?? (names.length === 1 ? names[0] : undefined);
  if (match === undefined) {
    if (isIdOf(name, id)) return { removed: names, left: [] };
    throw new NodeFailure(
      'BadRequest',
      `image "${name}" has the names ${names.join(', ')}: use one of these, or its ID`,
    );
  }
  const repository = repositoryOf(match);
  const isLastTag = !repoTags.some((tag) => tag !== match && repositoryOf(tag) === repository);
  const isRemoved = (each: string) =>
    each === match || (isLastTag && repoDigests.includes(each) && repositoryOf(each) === repository);
  return { removed: names.filter(isRemoved), left: names.filter((each) => !isRemoved(each)) };
}

/** Whether a request is for an ID, which may be shortened. */
const isIdOf = (name: string, id: string): boolean => {
  const digits = name.replace(/^sha256:/, '');
  return /^[0-9a-f]+$/.test(digits) && id.replace(/^sha256:/, '').startsWith(digits);
};

function fullNameOf(name: string): string {
  const reference = parseImageReference(name);
  if ('refusal' in reference) return name;
  const { repository, tag, digest } = reference;
  return digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
}

function repositoryOf(name: string): string {
  const reference = parseImageReference(name);
  return 'refusal' in reference ? name : reference.repository;
}

interface Untagging {
  readonly cri: Pick<Cri, 'version' | 'imageStatus' | 'removeImage'>;
  /** `unix:///…`, of the image service. */
  readonly endpoint: string;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

/**
 * Removes names of an image that has others. RemoveImage of containerd removes all names of the image, so this is done by
 * its `ctr`. CRI-O removes the given name alone.
 */
export async function removeNames(
  { removed, left }: NamesToRemove,
  { cri, endpoint, pause, signal }: Untagging,
): Promise<void> {
  const { runtimeName } = await cri.version({ version: 'v1' }, { signal });
  if (runtimeName === 'cri-o') {
    for (const name of removed) await cri.removeImage({ image: imageSpec(name) }, { signal });
    return;
  }
  if (runtimeName !== 'containerd') {
    const problem = `${runtimeName} cannot remove ${removed.join(' and ')} without ${left.join(', ')}`;
    throw new NodeFailure('Unimplemented', `${problem}: remove the image by its ID, or use the tools of that runtime`);
  }
  await expectCtr('removes single names');
  await ctrImages(endpoint, ['rm', ...removed], { signal });
  for (const name of removed) await gone(name, { cri, pause, signal });
}

/** Waits until the CRI does not show the name any more, so that a pod that starts next does not find it. */
async function gone(name: string, { cri, pause, signal }: Omit<Untagging, 'endpoint'>): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const { image } = await cri.imageStatus({ image: imageSpec(name), verbose: false }, { signal });
    if (image === undefined || ![...image.repoTags, ...image.repoDigests].includes(name)) return;
    await pause(LOOK_MS);
  }
  const seconds = (LOOKS * LOOK_MS) / 1_000;
  throw new NodeFailure('RuntimeError', `${name} was removed, but the runtime still shows it after ${seconds} s`);
}
