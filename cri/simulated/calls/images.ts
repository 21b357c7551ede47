import {
  Image,
  type ImageStatusRequest,
  type ImageStatusResponse,
  type ListImagesRequest,
  type ListImagesResponse,
  type PullImageRequest,
  type PullImageResponse,
  type RemoveImageRequest,
  type RemoveImageResponse,
} from '../../generated/runtime.ts';
import { pause } from '../clock.ts';
import { CallError, type CodeName } from '../faults/callError.ts';
import { computeDigest, fullImageName, isImageReference, repositoryName } from '../objects/imageName.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import { imageInfo } from './info.ts';

const MIB = 1024 * 1024;
const ACCESS_DENIED_MESSAGE =
  'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed';

/** An image in the registry, or the error with which pulls of the image fail. */
export interface RegistryImage {
  /** Size of the image in bytes. Defaults to 2 MiB. */
  readonly sizeBytes?: number;
  /** Duration of a pull in milliseconds. Defaults to 500. */
  readonly pullMs?: number;
  /** Error with which every pull fails after `pullMs`. */
  readonly error?: { readonly code?: CodeName; readonly message: string };
}

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface ImagesOption {
  /** Names of the images that are on the node from the start. */
  readonly present?: readonly string[];
  /** Images that can be pulled, by name. */
  readonly registry?: Readonly<Record<string, RegistryImage>>;
  /** Credentials required for pulls, by repository. Other repositories are public. */
  readonly private?: Readonly<Record<string, RegistryCredentials>>;
  /** Whether the registry also serves every image that is not listed. */
  readonly anyPullable?: boolean;
}

/** Implements the image calls and stores the images on the node and in the registry. */
export class Images {
  readonly #context: RuntimeContext;
  readonly #localImages = new Map<string, Image>();
  readonly #registry = new Map<string, RegistryImage>();
  readonly #privateCredentials: ReadonlyMap<string, RegistryCredentials>;
  readonly #servesAnyImage: boolean;

  constructor(context: RuntimeContext, options: ImagesOption) {
    const { present = [], registry = {}, private: credentials = {}, anyPullable = false } = options;
    this.#context = context;
    this.#privateCredentials = new Map(Object.entries(credentials));
    this.#servesAnyImage = anyPullable;
    for (const name of present) this.add(name);
    for (const [name, image] of Object.entries(registry)) this.publish(name, image);
  }

  /** Adds an image to the node as an import does, i.e. without a repository digest. */
  add(name: string, sizeBytes?: number): void {
    this.#addImage(fullImageName(name), [], sizeBytes);
  }

  /** Removes an image from the node, as other software might. Containers that use it continue to run. */
  discard(name: string): void {
    const { id } = this.find(name) ?? {};
    for (const [name, image] of this.#localImages) if (image.id === id) this.#localImages.delete(name);
  }

  /** Adds an image to the registry or replaces it. */
  publish(name: string, image: RegistryImage): void {
    this.#registry.set(fullImageName(name), image);
  }

  /** Finds an image on the node by name, digest, or unambiguous ID prefix. */
  find(name: string): Image | undefined {
    const fullName = fullImageName(name);
    const images = this.#localImages;
    return images.get(fullName) ?? findByDigest(images.values(), fullName) ?? findByIdPrefix(images.values(), name);
  }

  listed(): readonly Image[] {
    return [...this.#localImages.values()];
  }

  /** Lists all images regardless of the filter, as containerd does. */
  async list(_: ListImagesRequest, signal: AbortSignal): Promise<ListImagesResponse> {
    await this.#context.simulateWork('listImages', signal);
    return { images: [...this.listed()] };
  }

  async status({ image, verbose }: ImageStatusRequest, signal: AbortSignal): Promise<ImageStatusResponse> {
    await this.#context.simulateWork('imageStatus', signal);
    const matchingImage = this.find(image?.image ?? '');
    return { image: matchingImage, info: verbose && matchingImage ? imageInfo(matchingImage) : {} };
  }

  async pull({ image, auth }: PullImageRequest, signal: AbortSignal): Promise<PullImageResponse> {
    await this.#context.simulateWork('pullImage', signal);
    const reference = image?.image ?? '';
    if (!isImageReference(reference)) {
      throw new CallError('UNKNOWN', `failed to parse image reference "${reference}": invalid reference format`);
    }
    const name = fullImageName(reference);
    const registryImage = this.#registry.get(name) ?? (this.#servesAnyImage ? {} : undefined);
    if (!registryImage) {
      const problem = `failed to resolve reference "${name}": ${name}: not found`;
      throw pullError('NOT_FOUND', name, problem);
    }
    await pause(this.#context.clock, registryImage.pullMs ?? 500, signal);
    if (registryImage.error) throw pullError(registryImage.error.code ?? 'UNKNOWN', name, registryImage.error.message);
    const requiredCredentials = this.#privateCredentials.get(repositoryName(name));
    if (
      requiredCredentials !== undefined &&
      (auth?.username !== requiredCredentials.username || auth.password !== requiredCredentials.password)
    )
      throw pullError('UNKNOWN', name, ACCESS_DENIED_MESSAGE);
    const digest = `${repositoryName(name)}@${computeDigest(name)}`;
    return { imageRef: this.#addImage(name, [digest], registryImage.sizeBytes).id };
  }

  async remove({ image }: RemoveImageRequest, signal: AbortSignal): Promise<RemoveImageResponse> {
    await this.#context.simulateWork('removeImage', signal);
    this.discard(image?.image ?? '');
    return {};
  }

  #addImage(fullName: string, repoDigests: string[], sizeBytes = 2 * MIB): Image {
    const image = Image.create({
      id: computeDigest(`config of ${fullName}`),
      repoTags: fullName.includes('@') ? [] : [fullName],
      repoDigests,
      size: BigInt(sizeBytes),
      spec: { image: fullName },
    });
    this.#localImages.set(fullName, image);
    return image;
  }
}

function findByDigest(images: Iterable<Image>, name: string): Image | undefined {
  for (const image of images) if (image.repoDigests.includes(name)) return image;
  return undefined;
}

function findByIdPrefix(images: Iterable<Image>, id: string): Image | undefined {
  const digits = id.replace(/^sha256:/, '');
  const matches = [...images].filter((image) => image.id.startsWith(digits, 'sha256:'.length));
  if (matches.length > 1) throw new CallError('UNKNOWN', `can not resolve "${id}" locally: ambiguous digest string`);
  return matches[0];
}

function pullError(code: CodeName, name: string, message: string): CallError {
  return new CallError(code, `failed to pull and unpack image "${name}": ${message}`);
}
