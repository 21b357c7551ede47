/**
 * Reads an archive of images from `docker save`, `podman save`, `skopeo copy` or `docker buildx build --output
 * type=oci`, which is a docker-archive or an OCI image layout in a tar file. The archive is checked before the import
 * in order to report clear errors. Every image gets the full name by which pods refer to it.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import { goArchitecture } from '../../kubernetes/admission/node.ts';
import { parseImageReference } from '../../kubernetes/images/imageReference.ts';
import { decimalSize } from '../../show/tables/imageTable.ts';
import { tar } from '../managed/images/tar.ts';
import { measureLayerSize } from './layerSize.ts';
import { listTarMembers, readAt, TarError, type TarMember, type TarMembers } from './tarMembers.ts';

export interface ArchivedImage {
  /** Full name in the runtime, e.g. `docker.io/library/web:1`. */
  readonly name: string;
  /** Digest of the image's configuration, which is its ID in the CRI. */
  readonly id: string;
}

export interface ImageArchive {
  /** Name of the archive file in messages. */
  readonly label: string;
  readonly images: readonly ArchivedImage[];
  /** Returns the content of the archive for containerd, with the full names of the images. */
  content(): AsyncIterable<Uint8Array>;
}

interface ArchiveOptions {
  /** Name of the archive file in messages. */
  readonly label: string;
  /** Name for the only image in the archive. It replaces the names in the archive. */
  readonly name?: string | undefined;
  /** Architecture of the node in the notation of Node.js. */
  readonly arch?: string;
  /** Maximum total size of the unpacked layers in bytes. An archive that exceeds it is rejected. */
  readonly maxUnpackedBytes?: number;
}

/** Maximum size in bytes of a JSON file in an archive. An archive with a larger one is rejected. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;
/** Maximum nesting of indexes, beyond which an archive is rejected. Builders nest one index in `index.json`. */
const MAX_INDEX_DEPTH = 4;
/**
 * Maximum number of layers, which is the kernel's limit for an overlayfs mount (`OVL_MAX_STACK` in
 * `fs/overlayfs/params.h`).
 */
const MAX_LAYERS = 500;
/**
 * Maximum number of links to follow for a layer. Older versions of "docker save" write a link for a layer that several
 * images share.
 */
const MAX_LINKS = 8;
const READ_CHUNK_BYTES = 256 * 1024;

const IMAGE_NAME_ANNOTATION = 'io.containerd.image.name';
const REF_NAME_ANNOTATION = 'org.opencontainers.image.ref.name';

const INDEX_MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const CONFIG_MEDIA_TYPES: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
]);

const platformShape = z.object({
  os: z.optional(z.string()),
  architecture: z.optional(z.string()),
});

const descriptorShape = z.looseObject({
  mediaType: z.string(),
  digest: z.string().check(z.regex(/^[a-z0-9]+:[0-9a-f]+$/)),
  size: z.number(),
  platform: z.optional(z.nullable(z.looseObject(platformShape.shape))),
  annotations: z.optional(z.nullable(z.record(z.string(), z.string()))),
});

type Descriptor = z.infer<typeof descriptorShape>;
type Platform = z.infer<typeof platformShape>;

const indexShape = z.looseObject({ manifests: z.array(descriptorShape) });
const manifestShape = z.looseObject({ config: descriptorShape, layers: z.array(descriptorShape) });
const configShape = z.looseObject(platformShape.shape);
const dockerManifestShape = z.array(
  z.looseObject({
    Config: z.string(),
    RepoTags: z.optional(z.nullable(z.array(z.string()))),
    Layers: z.optional(z.nullable(z.array(z.string()))),
  }),
);

/**
 * Checks an archive and returns its images. Throws a `NodeFailure` with a one-sentence message if the archive is
 * invalid.
 */
export async function readImageArchive(file: FileHandle, options: ArchiveOptions): Promise<ImageArchive> {
  try {
    return await new ArchiveReader(file, await listTarMembers(file), options).read();
  } catch (cause) {
    if (!(cause instanceof TarError)) throw cause;
    throw new NodeFailure('BadRequest', `${options.label} ${cause.message}`, { cause });
  }
}

/** An image whose full names have not been determined yet. */
interface UnnamedImage {
  readonly id: string;
  /** Names in the archive, which may be tags without a repository. */
  readonly names: readonly string[];
}

/**
 * An image that a manifest describes. The ID is empty if the image is for a different platform, because such an image
 * may be missing from the archive.
 */
interface ResolvedImage {
  readonly id: string;
  readonly platform: Platform;
}

/** The JSON file that lists the images, rewritten with the full names of the images. */
interface ArchiveListing {
  readonly images: readonly ArchivedImage[];
  readonly file: string;
  readonly content: unknown;
}

class ArchiveReader {
  readonly #file: FileHandle;
  readonly #members: ReadonlyMap<string, TarMember>;
  readonly #isTerminated: boolean;
  readonly #label: string;
  readonly #name: string | undefined;
  /** Images by blob digest and depth. The cache prevents exponential time when many indexes refer to the same index. */
  readonly #imagesByDigest = new Map<string, Promise<readonly ResolvedImage[]>>();
  /** Cache of the configurations in a docker-archive by file name. Several entries may refer to the same file. */
  readonly #configs = new Map<string, { readonly id: string; readonly platform: Platform }>();
  /**
   * Files of the layers that containerd unpacks for each image, by the digest of the image's manifest or configuration.
   */
  readonly #layers = new Map<string, readonly string[]>();
  readonly #maxUnpackedBytes: number;
  readonly #platform: { readonly os: string; readonly architecture: string };

  constructor(
    file: FileHandle,
    { members, isTerminated }: TarMembers,
    { label, name, arch = process.arch, maxUnpackedBytes = Number.POSITIVE_INFINITY }: ArchiveOptions,
  ) {
    this.#file = file;
    // If several members have the same name, the last one applies, as when an archive is extracted.
    this.#members = new Map(members.map((member) => [posix.normalize(member.name), member]));
    this.#isTerminated = isTerminated;
    this.#label = label;
    this.#maxUnpackedBytes = maxUnpackedBytes;
    this.#name = name === undefined ? undefined : fullName(name, '--name');
    this.#platform = { os: 'linux', architecture: goArchitecture(arch) };
  }

  async read(): Promise<ImageArchive> {
    const { images, file, content } = await this.#readListing();
    const listingContent = Buffer.from(this.#serialize(file, content));
    await this.#checkUnpackedSize();
    return { label: this.#label, images, content: () => this.#content(file, listingContent) };
  }

  /**
   * Serializes the listing, including unknown fields. Throws if the listing is nested too deeply, because JSON.parse
   * accepts deeper nesting than JSON.stringify can write.
   */
  #serialize(file: string, content: unknown): string {
    try {
      return JSON.stringify(content);
    } catch (cause) {
      throw new NodeFailure('BadRequest', `${this.#label} is damaged: ${file} is nested too deeply`, { cause });
    }
  }

  /**
   * Throws if the unpacked layers are too large. A layer that several images share counts several times, because
   * containerd unpacks it again on top of different layers.
   */
  async #checkUnpackedSize(): Promise<void> {
    const limit = this.#maxUnpackedBytes;
    const sizes = new Map<string, number>();
    let totalBytes = 0;
    for (const name of [...this.#layers.values()].flat()) {
      const member = this.#resolveMember(name);
      if (member === undefined) continue;
      const cachedSize = sizes.get(member.name);
      const size =
        cachedSize ??
        (await measureLayerSize({ file: this.#file, offset: member.contentOffset, size: member.size }, limit));
      sizes.set(member.name, size);
      totalBytes += size;
      if (totalBytes > limit) throw new NodeFailure('BadRequest', expansionMessage(this.#label, limit));
    }
  }

  /** Returns the member with this name, following symbolic links. */
  #resolveMember(name: string): TarMember | undefined {
    let path = posix.normalize(name);
    for (let links = 0; links < MAX_LINKS; links += 1) {
      const member = this.#members.get(path);
      if (member === undefined || member.isFile || member.linkTarget === '') return member;
      path = posix.join(posix.dirname(path), member.linkTarget);
    }
    return undefined;
  }

  /** Records the layers of an image for this node's platform. */
  #addLayers(digest: string, layers: readonly string[]): void {
    if (layers.length > MAX_LAYERS) {
      const problem = `has an image of ${layers.length} layers, but overlayfs mounts at most ${MAX_LAYERS}`;
      throw this.#createInvalidFailure(`${problem}: build it with fewer layers`);
    }
    this.#layers.set(digest, layers);
  }

  async #readListing(): Promise<ArchiveListing> {
    if (this.#members.has('oci-layout')) return this.#readOciListing();
    if (this.#members.has('manifest.json')) return this.#readDockerListing();
    if (!this.#isTerminated) throw this.#createMissingFailure('its end');
    throw this.#createInvalidFailure(
      'has no manifest: expected a docker-archive (manifest.json), as "docker save" writes it, or an OCI layout (oci-layout, index.json)',
    );
  }

  async #readOciListing(): Promise<ArchiveListing> {
    const { manifests } = await this.#readJson('index.json', indexShape);
    const resolvedImages = await Promise.all(manifests.map((each) => this.#resolveImages(each, MAX_INDEX_DEPTH)));
    const matchingImages = manifests.flatMap((descriptor, index) => {
      const [image] = resolvedImages[index]?.filter(({ platform }) => this.#matchesPlatform(platform)) ?? [];
      return image === undefined ? [] : [{ descriptor, id: image.id, names: annotatedNames(descriptor) }];
    });
    const names = new Set(matchingImages.flatMap((image) => image.names));
    const unresolvedManifests = resolvedImages.filter((_, index) =>
      annotatedNames(manifests[index]).some((name) => !names.has(name)),
    );
    if (matchingImages.length === 0 || unresolvedManifests.length > 0) {
      throw this.#createNoImageFailure(
        (matchingImages.length === 0 ? resolvedImages : unresolvedManifests).flat().map(({ platform }) => platform),
      );
    }
    const images = this.#assignNames(matchingImages);
    const descriptorsById = new Map(matchingImages.toReversed().map(({ id, descriptor }) => [id, descriptor]));
    const descriptors = images.map(({ id, name }) => {
      const descriptor = descriptorsById.get(id);
      return {
        ...descriptor,
        annotations: { ...descriptor?.annotations, [IMAGE_NAME_ANNOTATION]: name, [REF_NAME_ANNOTATION]: name },
      };
    });
    const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: descriptors };
    return { images, file: 'index.json', content: index };
  }

  /** Resolves a descriptor to images in the archive. A nested index contains several images. */
  async #resolveImages(descriptor: Descriptor, depth: number): Promise<readonly ResolvedImage[]> {
    const { digest, mediaType, platform } = descriptor;
    const isIndex = INDEX_MEDIA_TYPES.has(mediaType);
    // Skip images for other platforms, because an archive has no files for platforms that were not pulled. This also
    // skips attestations, which have the platform unknown/unknown.
    if (!isIndex && platform && !this.#matchesPlatform(platform)) return [{ id: '', platform }];
    const key = `${depth} ${digest} ${mediaType}`;
    const pendingImages = this.#imagesByDigest.get(key);
    if (pendingImages !== undefined) return pendingImages;
    const images = isIndex ? this.#resolveIndex(descriptor, depth) : this.#resolveManifest(descriptor);
    this.#imagesByDigest.set(key, images);
    return images;
  }

  async #resolveIndex(descriptor: Descriptor, depth: number): Promise<readonly ResolvedImage[]> {
    if (depth === 0) throw this.#createInvalidFailure('has indexes that are nested too deeply');
    const { manifests } = await this.#readBlob(descriptor, indexShape);
    const resolvedImages = await Promise.all(manifests.map((each) => this.#resolveImages(each, depth - 1)));
    const keyedImages = resolvedImages.flatMap((images) =>
      images.map((image) => [`${image.id} ${formatPlatform(image.platform)}`, image] as const),
    );
    return [...new Map(keyedImages).values()];
  }

  async #resolveManifest(descriptor: Descriptor): Promise<readonly ResolvedImage[]> {
    const manifest = await this.#readBlob(descriptor, manifestShape);
    if (!CONFIG_MEDIA_TYPES.has(manifest.config.mediaType)) {
      throw this.#createInvalidFailure(
        `has no container image: ${descriptor.digest} is of type ${manifest.config.mediaType}`,
      );
    }
    const config = await this.#readBlob(manifest.config, configShape);
    if (this.#matchesPlatform(config)) {
      const layers = manifest.layers.map((layer) => this.#requireBlob(layer, 'layer'));
      this.#addLayers(descriptor.digest, layers);
    }
    return [{ id: manifest.config.digest, platform: config }];
  }

  async #readDockerListing(): Promise<ArchiveListing> {
    const entries = await this.#readJson('manifest.json', dockerManifestShape);
    const images: UnnamedImage[] = [];
    const otherPlatforms: Platform[] = [];
    const entriesById = new Map<string, (typeof entries)[number]>();
    for (const entry of entries) {
      const { Config: config, RepoTags: tags } = entry;
      const layers = entry.Layers ?? [];
      const { id, platform } = await this.#readConfig(config);
      if (!this.#matchesPlatform(platform)) otherPlatforms.push(platform);
      for (const layer of layers) {
        if (!this.#members.has(posix.normalize(layer))) throw this.#createMissingFailure(`the layer ${layer}`);
      }
      images.push({ id, names: tags ?? [] });
      if (entriesById.has(id)) continue;
      entriesById.set(id, entry);
      this.#addLayers(id, layers);
    }
    if (images.length === 0 || otherPlatforms.length > 0) throw this.#createNoImageFailure(otherPlatforms);
    const namedImages = this.#assignNames(images);
    const namesById = Map.groupBy(namedImages, ({ id }) => id);
    const content = [...entriesById].map(([id, entry]) => ({
      ...entry,
      RepoTags: (namesById.get(id) ?? []).map(({ name }) => name),
    }));
    return { images: namedImages, file: 'manifest.json', content };
  }

  async #readConfig(file: string): Promise<{ readonly id: string; readonly platform: Platform }> {
    const cachedConfig = this.#configs.get(file);
    if (cachedConfig !== undefined) return cachedConfig;
    const content = await this.#readContent(file);
    const config = { id: computeDigest(content), platform: this.#parseJson(file, content, configShape) };
    this.#configs.set(file, config);
    return config;
  }

  /** Assigns to each image the full names by which the runtime and pods refer to it. */
  #assignNames(images: readonly UnnamedImage[]): ArchivedImage[] {
    const ids = new Set(images.map(({ id }) => id));
    const [first] = images;
    if (this.#name !== undefined) {
      if (ids.size > 1 || first === undefined) {
        throw this.#createInvalidFailure(`has ${ids.size} images, so that --name cannot name them`);
      }
      return [{ id: first.id, name: this.#name }];
    }
    const namedImages = images.flatMap(({ id, names }) => {
      const fullNames = names.filter((name) => /[/:@]/.test(name)).map((name) => fullName(name, this.#label));
      if (fullNames.length > 0) return fullNames.map((name) => ({ id, name }));
      const tag = names.length > 0 ? ` (only the tag ${names.join(', ')})` : '';
      throw this.#createInvalidFailure(`has an image without a name${tag}: name it with --name, as in --name web:1`);
    });
    return [...new Map(namedImages.map((image) => [`${image.name} ${image.id}`, image])).values()];
  }

  #matchesPlatform({ os = '', architecture = '' }: Platform): boolean {
    const { os: ownOs, architecture: ownArchitecture } = this.#platform;
    return (os === '' || os === ownOs) && (architecture === '' || architecture === ownArchitecture);
  }

  #createNoImageFailure(platforms: readonly Platform[]): NodeFailure {
    const platformNames = new Set(platforms.map(formatPlatform).filter((text) => text !== 'unknown/unknown'));
    if (platformNames.size === 0) return this.#createInvalidFailure('has no images');
    const advice = `build it with --platform ${formatPlatform(this.#platform)}`;
    return this.#createInvalidFailure(
      `is an image for ${[...platformNames].join(' and ')}, but this node is ${formatPlatform(this.#platform)}: ${advice}`,
    );
  }

  #readBlob<Value>(descriptor: Descriptor, shape: z.ZodMiniType<Value>): Promise<Value> {
    return this.#readJson(this.#requireBlob(descriptor, 'manifest'), shape, descriptor.digest);
  }

  /** Returns the file name of a blob. Throws if the blob does not have the size in the descriptor. */
  #requireBlob({ digest, size }: Descriptor, role: string): string {
    const name = `blobs/${digest.replace(':', '/')}`;
    const member = this.#members.get(name);
    if (member === undefined) throw this.#createMissingFailure(`the ${role} ${digest}`);
    if (member.size !== size)
      throw this.#createInvalidFailure(`is damaged: ${name} has ${member.size} instead of ${size} bytes`);
    return name;
  }

  async #readJson<Value>(name: string, shape: z.ZodMiniType<Value>, digest?: string): Promise<Value> {
    const content = await this.#readContent(name);
    if (digest?.startsWith('sha256:') && computeDigest(content) !== digest) {
      throw this.#createInvalidFailure(`is damaged: the content of ${name} does not match its digest`);
    }
    return this.#parseJson(name, content, shape);
  }

  #parseJson<Value>(name: string, content: Buffer, shape: z.ZodMiniType<Value>): Value {
    const result = z.safeParse(shape, parseJson(content.toString('utf8')));
    if (result.success) return result.data;
    throw new NodeFailure('BadRequest', `${this.#label} is damaged: ${name} cannot be read`, { cause: result.error });
  }

  async #readContent(name: string): Promise<Buffer> {
    const member = this.#members.get(posix.normalize(name));
    if (member === undefined || !member.isFile) throw this.#createMissingFailure(name);
    if (member.size > MAX_JSON_BYTES) throw this.#createInvalidFailure(`is damaged: ${name} has ${member.size} bytes`);
    return readAt(this.#file, member.contentOffset, member.size);
  }

  /**
   * Streams the members of the archive without the JSON file that lists the images, and then a version of this file
   * with the full names of the images.
   */
  async *#content(listing: string, content: Buffer): AsyncGenerator<Uint8Array> {
    const sortedMembers = [...this.#members.values()].toSorted((a, b) => a.startOffset - b.startOffset);
    for (const { name, startOffset, endOffset } of sortedMembers) {
      if (posix.normalize(name) === listing) continue;
      for (let offset = startOffset; offset < endOffset; offset += READ_CHUNK_BYTES) {
        const length = Math.min(READ_CHUNK_BYTES, endOffset - offset);
        const bytes = await readAt(this.#file, offset, length);
        // The padding after the last file may be missing.
        yield bytes.length === length ? bytes : Buffer.concat([bytes], length);
      }
    }
    yield tar([{ type: 'file', path: listing, content, mode: 0o644 }]);
  }

  #createMissingFailure(description: string): NodeFailure {
    return this.#createInvalidFailure(
      `is ${this.#isTerminated ? 'incomplete' : 'truncated'}: ${description} is missing`,
    );
  }

  #createInvalidFailure(problem: string): NodeFailure {
    return new NodeFailure('BadRequest', `${this.#label} ${problem}`);
  }
}

/** Returns the message for an archive that expands to more than `limit` bytes. */
export function expansionMessage(label: string, limit: number): string {
  const advice = 'if its content is right, decompress the archive and its layers before the import';
  return `${label} expands to more than ${decimalSize(limit)}, which is out of proportion to its size: ${advice}`;
}

const formatPlatform = ({ os, architecture }: Platform): string => `${os || 'linux'}/${architecture || 'unknown'}`;

const computeDigest = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Returns the image names in a descriptor's annotations. containerd prefers its own annotation. */
function annotatedNames(descriptor: Descriptor | undefined): string[] {
  const names = new Map(Object.entries(descriptor?.annotations ?? {}));
  const name = names.get(IMAGE_NAME_ANNOTATION) ?? names.get(REF_NAME_ANNOTATION);
  return name === undefined || name === '' ? [] : [name];
}

/** Returns the image name with its registry and tag, resolved like `image: web` in a pod. */
export function fullName(name: string, label: string): string {
  const reference = parseImageReference(name);
  if ('refusal' in reference) {
    throw new NodeFailure('InvalidImageName', `${label}: "${name}" is not the name of an image: ${reference.refusal}`);
  }
  const { repository, tag, digest } = reference;
  const versionSuffix =
    digest === undefined ? `:${tag ?? 'latest'}` : `${tag === undefined ? '' : `:${tag}`}@${digest}`;
  return `${repository}${versionSuffix}`;
}
