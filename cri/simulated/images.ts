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
import { digestOf, fullImageName, isReference, repositoryOf } from './imageName.ts';
import { imageInfo } from './info.ts';
import type { World } from './world.ts';

const MIB = 1024 * 1024;
const DENIED =
  'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed';

/** An image that a registry has, or the way in which it fails to give it. */
export interface RegistryImage {
  /** 2 MiB when absent. */
  readonly sizeBytes?: number;
  /** Milliseconds that a pull takes; 500 when absent. */
  readonly pullMs?: number;
  /** What every pull fails with after that time. */
  readonly error?: { readonly code?: CodeName; readonly message: string };
}

/** What a registry knows somebody by. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

export interface ImagesOption {
  /** The names of images that are on the node from the start. */
  readonly present?: readonly string[];
  /** By name, what can be pulled. */
  readonly registry?: Readonly<Record<string, RegistryImage>>;
  /** By repository, who may pull from it; those of others anybody may. */
  readonly private?: Readonly<Record<string, Login>>;
  /** Whether the registry also has every image that nobody told of. */
  readonly anyPullable?: boolean;
}

/** The images on the node, and the registry that others are pulled from. */
export class Images {
  readonly #world: World;
  readonly #present = new Map<string, Image>();
  readonly #registry = new Map<string, RegistryImage>();
  readonly #private: ReadonlyMap<string, Login>;
  readonly #anyPullable: boolean;

  constructor(world: World, options: ImagesOption) {
    const { present = [], registry = {}, private: logins = {}, anyPullable = false } = options;
    this.#world = world;
    this.#private = new Map(Object.entries(logins));
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

  /** The image on the node under this name, digest or id, which may be cut off as long as it is the only such one. */
  find(name: string): Image | undefined {
    const fullName = fullImageName(name);
    const images = this.#present;
    return images.get(fullName) ?? withDigest(images.values(), fullName) ?? withId(images.values(), name);
  }

  /** Every image on the node. */
  all(): readonly Image[] {
    return [...this.#present.values()];
  }

  /** Lists all images whatever the filter, as containerd does. */
  async list(_: ListImagesRequest, signal: AbortSignal): Promise<ListImagesResponse> {
    await this.#world.work('listImages', signal);
    return { images: [...this.all()] };
  }

  async status({ image, verbose }: ImageStatusRequest, signal: AbortSignal): Promise<ImageStatusResponse> {
    await this.#world.work('imageStatus', signal);
    const found = this.find(image?.image ?? '');
    return { image: found, info: verbose && found ? imageInfo(found) : {} };
  }

  async pull({ image, auth }: PullImageRequest, signal: AbortSignal): Promise<PullImageResponse> {
    await this.#world.work('pullImage', signal);
    const asked = image?.image ?? '';
    if (!isReference(asked)) {
      throw new CallError('UNKNOWN', `failed to parse image reference "${asked}": invalid reference format`);
    }
    const name = fullImageName(asked);
    const found = this.#registry.get(name) ?? (this.#anyPullable ? {} : undefined);
    if (!found) {
      const resolving = `failed to resolve reference "${name}": ${name}: not found`;
      throw pullError('NOT_FOUND', name, resolving);
    }
    await pause(this.#world.clock, found.pullMs ?? 500, signal);
    if (found.error) throw pullError(found.error.code ?? 'UNKNOWN', name, found.error.message);
    const login = this.#private.get(repositoryOf(name));
    if (login !== undefined && (auth?.username !== login.username || auth.password !== login.password))
      throw pullError('UNKNOWN', name, DENIED);
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

function withDigest(images: Iterable<Image>, name: string): Image | undefined {
  for (const image of images) if (image.repoDigests.includes(name)) return image;
  return undefined;
}

function withId(images: Iterable<Image>, id: string): Image | undefined {
  const digits = id.replace(/^sha256:/, '');
  const found = [...images].filter((image) => image.id.startsWith(digits, 'sha256:'.length));
  if (found.length > 1) throw new CallError('UNKNOWN', `can not resolve "${id}" locally: ambiguous digest string`);
  return found[0];
}

function pullError(code: CodeName, name: string, message: string): CallError {
  return new CallError(code, `failed to pull and unpack image "${name}": ${message}`);
}
