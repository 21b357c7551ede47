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
} from '../generated/runtime.ts';
import { CallError, type CodeName } from './callError.ts';
import { pause } from './clock.ts';
import { digestOf, fullImageName, repositoryOf } from './imageName.ts';
import type { World } from './world.ts';

const MIB = 1024 * 1024;

/** An image that a registry has, or the way in which it fails to give it. */
export interface RegistryImage {
  /** 2 MiB when absent. */
  readonly sizeBytes?: number;
  /** Milliseconds that a pull takes; 500 when absent. */
  readonly pullMs?: number;
  /** What every pull fails with after that time. */
  readonly error?: { readonly code?: CodeName; readonly message: string };
}

export interface ImagesOption {
  /** The names of images that are on the node from the start. */
  readonly present?: readonly string[];
  /** By name, what can be pulled. */
  readonly registry?: Readonly<Record<string, RegistryImage>>;
  /** Whether the registry also has every image that nobody told of. */
  readonly anyPullable?: boolean;
}

/** The images on the node, and the registry that others are pulled from. */
export class Images {
  readonly #world: World;
  readonly #present = new Map<string, Image>();
  readonly #registry = new Map<string, RegistryImage>();
  readonly #anyPullable: boolean;

  constructor(world: World, { present = [], registry = {}, anyPullable = false }: ImagesOption) {
    this.#world = world;
    this.#anyPullable = anyPullable;
    for (const name of present) this.add(name);
    for (const [name, image] of Object.entries(registry)) this.publish(name, image);
  }

  /** Puts an image onto the node, as an import does: without the digest that a registry's has. */
  add(name: string, sizeBytes?: number): void {
    this.#add(fullImageName(name), [], sizeBytes);
  }

  /** Takes an image off the node, as somebody beside the agent might; containers of it run on. */
  lose(name: string): void {
    const { id } = this.find(name) ?? {};
    for (const [present, image] of this.#present) if (image.id === id) this.#present.delete(present);
  }

  /** Makes an image pullable, or changes how its pulls go. */
  publish(name: string, image: RegistryImage): void {
    this.#registry.set(fullImageName(name), image);
  }

  /** The image on the node under this name, id or digest. */
  find(name: string): Image | undefined {
    const fullName = fullImageName(name);
    return (
      this.#present.get(fullName) ??
      [...this.#present.values()].find((image) => image.id === name || image.repoDigests.includes(fullName))
    );
  }

  async list({ filter }: ListImagesRequest, signal: AbortSignal): Promise<ListImagesResponse> {
    await this.#world.work('listImages', signal);
    const wanted = filter?.image?.image;
    const found = wanted ? this.find(wanted) : undefined;
    return { images: wanted ? (found ? [found] : []) : [...this.#present.values()] };
  }

  async status({ image }: ImageStatusRequest, signal: AbortSignal): Promise<ImageStatusResponse> {
    await this.#world.work('imageStatus', signal);
    return { image: this.find(image?.image ?? ''), info: {} };
  }

  async pull({ image }: PullImageRequest, signal: AbortSignal): Promise<PullImageResponse> {
    await this.#world.work('pullImage', signal);
    const name = fullImageName(image?.image ?? '');
    const found = this.#registry.get(name) ?? (this.#anyPullable ? {} : undefined);
    if (!found) {
      const resolving = `failed to resolve reference "${name}": ${name}: not found`;
      throw pullError('NOT_FOUND', name, resolving);
    }
    await pause(this.#world.clock, found.pullMs ?? 500, signal);
    if (found.error) throw pullError(found.error.code ?? 'UNKNOWN', name, found.error.message);
    const digest = `${repositoryOf(name)}@${digestOf(name)}`;
    return { imageRef: this.#add(name, [digest], found.sizeBytes).id };
  }

  async remove({ image }: RemoveImageRequest, signal: AbortSignal): Promise<RemoveImageResponse> {
    await this.#world.work('removeImage', signal);
    this.lose(image?.image ?? '');
    return {};
  }

  #add(fullName: string, repoDigests: string[], sizeBytes = 2 * MIB): Image {
    const image = Image.create({
      id: digestOf(`config of ${fullName}`),
      repoTags: fullName.includes('@') ? [] : [fullName],
      repoDigests,
      size: BigInt(sizeBytes),
      spec: { image: fullName },
    });
    this.#present.set(fullName, image);
    return image;
  }
}

function pullError(code: CodeName, name: string, message: string): CallError {
  return new CallError(code, `failed to pull and unpack image "${name}": ${message}`);
}
