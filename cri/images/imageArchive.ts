/**
 * An archive of images as `docker save`, `podman save`, `skopeo copy` and `docker buildx build --output type=oci` write it: a
 * docker-archive or an OCI image layout in a tar file. It is checked before the runtime gets it, so that a mistake is one
 * clear sentence, and every image gets the full name under which pods find it.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import { goArchitecture } from '../../kubernetes/admission/node.ts';
import { parseImageReference } from '../../kubernetes/images/imageReference.ts';
import { decimalSize } from '../../show/imageTable.ts';
import { tar } from '../managed/tar.ts';
import { unpackedLayerSize } from './layerSize.ts';
import { readAt, type TarMember, type TarMembers, TarMistake, tarMembers } from './tarMembers.ts';

/** An image of an archive, under the full name that the runtime gives it. */
export interface ArchivedImage {
  /** `docker.io/library/web:1`. */
  readonly name: string;
  /** Digest of its configuration, by which the CRI identifies it. */
  readonly id: string;
}

export interface ImageArchive {
  /** Name of the file in messages. */
  readonly label: string;
  readonly images: readonly ArchivedImage[];
  /** Returns the archive with the full names of its images, as containerd reads it. */
  content(): AsyncIterable<Uint8Array>;
}

interface ArchiveOptions {
  /** Name of the file in messages. */
  readonly label: string;
  /** Name of the only image, instead of the names in the archive. */
  readonly name?: string | undefined;
  /** Architecture of the node, as Node.js names it. */
  readonly arch?: string;
  /** Maximum size of all unpacked layers, in bytes. */
  readonly maxUnpackedBytes?: number;
}

/** Longest JSON file in an archive, in bytes. */
const LONGEST_JSON = 8 * 1024 * 1024;
/** Deepest nesting of indexes. Builders nest one index in `index.json`. */
const DEEPEST_INDEX = 4;
/** The kernel mounts at most this many layers with overlayfs (`OVL_MAX_STACK` in `fs/overlayfs/params.h`). */
const MAX_LAYERS = 500;
/** An archive has a few links at most from one layer to another, as older versions of "docker save" write them. */
const MAX_LINKS = 8;
const READ_BYTES = 256 * 1024;

const IMAGE_NAME = 'io.containerd.image.name';
const REF_NAME = 'org.opencontainers.image.ref.name';

const INDEX_TYPES: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const CONFIG_TYPES: ReadonlySet<string> = new Set([
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
const dockerShape = z.array(
  z.looseObject({
    Config: z.string(),
    RepoTags: z.optional(z.nullable(z.array(z.string()))),
    Layers: z.optional(z.nullable(z.array(z.string()))),
  }),
);

/** Checks an archive and returns its images. Throws a `NodeFailure` that says in one sentence what is wrong with it. */
export async function readImageArchive(file: FileHandle, options: ArchiveOptions): Promise<ImageArchive> {
  try {
    return await new ArchiveReader(file, await tarMembers(file), options).read();
  } catch (cause) {
    if (!(cause instanceof TarMistake)) throw cause;
    throw new NodeFailure('BadRequest', `${options.label} ${cause.message}`, { cause });
  }
}

/** An image before it is named. */
interface Unnamed {
  readonly id: string;
  /** Names in the archive, which may be tags without a repository. */
  readonly names: readonly string[];
}

/** An image of a manifest. The ID is empty if the archive need not contain it, because it is for a different platform. */
interface ResolvedImage {
  readonly id: string;
  readonly platform: Platform;
}

/** The JSON file that lists the images, with the full names of these. */
interface Listing {
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
  /** Images of blobs by depth and digest. Indexes that refer to one index many times would take exponential time. */
  readonly #imagesOfBlobs = new Map<string, Promise<readonly ResolvedImage[]>>();
  /** Configurations of a docker-archive by file, which many entries may refer to. */
  readonly #configs = new Map<string, { readonly id: string; readonly platform: Platform }>();
  /** Files with the layers of each image that containerd unpacks, by the digest of its manifest or configuration. */
  readonly #layers = new Map<string, readonly string[]>();
  readonly #maxUnpackedBytes: number;
  readonly #platform: { readonly os: string; readonly architecture: string };

  constructor(
    file: FileHandle,
    { members, isTerminated }: TarMembers,
    { label, name, arch = process.arch, maxUnpackedBytes = Number.POSITIVE_INFINITY }: ArchiveOptions,
  ) {
    this.#file = file;
    // The last of several members with the same name counts, as when an archive is extracted.
    this.#members = new Map(members.map((member) => [posix.normalize(member.name), member]));
    this.#isTerminated = isTerminated;
    this.#label = label;
    this.#maxUnpackedBytes = maxUnpackedBytes;
    this.#name = name === undefined ? undefined : fullName(name, '--name');
    this.#platform = { os: 'linux', architecture: goArchitecture(arch) };
  }

  async read(): Promise<ImageArchive> {
    const { images, file, content } = await this.#listing();
    const listing = Buffer.from(this.#jsonOf(file, content));
    await this.#checkUnpackedSize();
    return { label: this.#label, images, content: () => this.#content(file, listing) };
  }

  /** Writes the listing with its unknown fields, which JSON.parse reads at a depth that JSON.stringify cannot write. */
  #jsonOf(file: string, content: unknown): string {
    try {
      return JSON.stringify(content);
    } catch (cause) {
      throw new NodeFailure('BadRequest', `${this.#label} is damaged: ${file} is nested too deeply`, { cause });
    }
  }

  /**
   * Throws if the layers take too much space once they are unpacked. A layer counts in each image and as often as an image
   * has it, because containerd unpacks it again over different layers.
   */
  async #checkUnpackedSize(): Promise<void> {
    const limit = this.#maxUnpackedBytes;
    const sizes = new Map<string, number>();
    let total = 0;
    for (const name of [...this.#layers.values()].flat()) {
      const member = this.#linkedMember(name);
      if (member === undefined) continue;
      const known = sizes.get(member.name);
      const size =
        known ?? (await unpackedLayerSize({ file: this.#file, at: member.contentAt, size: member.size }, limit));
      sizes.set(member.name, size);
      total += size;
      if (total > limit) throw new NodeFailure('BadRequest', expandsTooMuch(this.#label, limit));
    }
  }

  /** Returns the member of this name or, if it is a symbolic link, the one that it leads to. */
  #linkedMember(name: string): TarMember | undefined {
    let path = posix.normalize(name);
    for (let links = 0; links < MAX_LINKS; links += 1) {
      const member = this.#members.get(path);
      if (member === undefined || member.isFile || member.target === '') return member;
      path = posix.join(posix.dirname(path), member.target);
    }
    return undefined;
  }

  /** Records the layers of an image that fits this node. */
  #addLayers(digest: string, layers: readonly string[]): void {
    if (layers.length > MAX_LAYERS) {
      const problem = `has an image of ${layers.length} layers, but overlayfs mounts at most ${MAX_LAYERS}`;
      throw this.#mistake(`${problem}: build it with fewer layers`);
    }
    this.#layers.set(digest, layers);
  }

  async #listing(): Promise<Listing> {
    if (this.#members.has('oci-layout')) return this.#ociListing();
    if (this.#members.has('manifest.json')) return this.#dockerListing();
    if (!this.#isTerminated) throw this.#missing('its end');
    throw this.#mistake(
      'has no manifest: expected a docker-archive (manifest.json), as "docker save" writes it, or an OCI layout (oci-layout, index.json)',
    );
  }

  async #ociListing(): Promise<Listing> {
    const { manifests } = await this.#json('index.json', indexShape);
    const resolved = await Promise.all(manifests.map((each) => this.#imagesOf(each, DEEPEST_INDEX)));
    const found = manifests.flatMap((descriptor, index) => {
      const [image] = resolved[index]?.filter(({ platform }) => this.#fits(platform)) ?? [];
      return image === undefined ? [] : [{ descriptor, id: image.id, names: namesOf(descriptor) }];
    });
    const names = new Set(found.flatMap((image) => image.names));
    const foreign = resolved.filter((_, index) => namesOf(manifests[index]).some((name) => !names.has(name)));
    if (found.length === 0 || foreign.length > 0) {
      throw this.#whyNone((found.length === 0 ? resolved : foreign).flat().map(({ platform }) => platform));
    }
    const named = this.#named(found);
    const descriptorsById = new Map(found.toReversed().map(({ id, descriptor }) => [id, descriptor]));
    const descriptors = named.map(({ id, name }) => {
      const descriptor = descriptorsById.get(id);
      return { ...descriptor, annotations: { ...descriptor?.annotations, [IMAGE_NAME]: name, [REF_NAME]: name } };
    });
    const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: descriptors };
    return { images: named, file: 'index.json', content: index };
  }

  /** Resolves a descriptor to the images that it names and the archive contains, which are several in a nested index. */
  async #imagesOf(descriptor: Descriptor, depth: number): Promise<readonly ResolvedImage[]> {
    const { digest, mediaType, platform } = descriptor;
    const isIndex = INDEX_TYPES.has(mediaType);
    // Attestations have the platform unknown/unknown, and a platform that was not pulled has no files.
    if (!isIndex && platform && !this.#fits(platform)) return [{ id: '', platform }];
    const key = `${depth} ${digest} ${mediaType}`;
    const resolving = this.#imagesOfBlobs.get(key);
    if (resolving !== undefined) return resolving;
    const images = isIndex ? this.#imagesOfIndex(descriptor, depth) : this.#imagesOfManifest(descriptor);
    this.#imagesOfBlobs.set(key, images);
    return images;
  }

  async #imagesOfIndex(descriptor: Descriptor, depth: number): Promise<readonly ResolvedImage[]> {
    if (depth === 0) throw this.#mistake('has indexes that are nested too deeply');
    const { manifests } = await this.#blob(descriptor, indexShape);
    const resolved = await Promise.all(manifests.map((each) => this.#imagesOf(each, depth - 1)));
    const entries = resolved.flatMap((images) =>
      images.map((image) => [`${image.id} ${platformText(image.platform)}`, image] as const),
    );
    return [...new Map(entries).values()];
  }

  async #imagesOfManifest(descriptor: Descriptor): Promise<readonly ResolvedImage[]> {
    const manifest = await this.#blob(descriptor, manifestShape);
    if (!CONFIG_TYPES.has(manifest.config.mediaType)) {
      throw this.#mistake(`has no container image: ${descriptor.digest} is of type ${manifest.config.mediaType}`);
    }
    const config = await this.#blob(manifest.config, configShape);
    if (this.#fits(config)) {
      const layers = manifest.layers.map((layer) => this.#expectBlob(layer, 'layer'));
      this.#addLayers(descriptor.digest, layers);
    }
    return [{ id: manifest.config.digest, platform: config }];
  }

  async #dockerListing(): Promise<Listing> {
    const entries = await this.#json('manifest.json', dockerShape);
    const found: Unnamed[] = [];
    const foreign: Platform[] = [];
    const entriesById = new Map<string, (typeof entries)[number]>();
    for (const entry of entries) {
      const { Config: config, RepoTags: tags } = entry;
      const layers = entry.Layers ?? [];
      const { id, platform } = await this.#configOf(config);
      if (!this.#fits(platform)) foreign.push(platform);
      for (const layer of layers) {
        if (!this.#members.has(posix.normalize(layer))) throw this.#missing(`the layer ${layer}`);
      }
      found.push({ id, names: tags ?? [] });
      if (entriesById.has(id)) continue;
      entriesById.set(id, entry);
      this.#addLayers(id, layers);
    }
    if (found.length === 0 || foreign.length > 0) throw this.#whyNone(foreign);
    const named = this.#named(found);
    const namesById = Map.groupBy(named, ({ id }) => id);
    const content = [...entriesById].map(([id, entry]) => ({
      ...entry,
      RepoTags: (namesById.get(id) ?? []).map(({ name }) => name),
    }));
    return { images: named, file: 'manifest.json', content };
  }

  async #configOf(file: string): Promise<{ readonly id: string; readonly platform: Platform }> {
    const known = this.#configs.get(file);
    if (known !== undefined) return known;
    const content = await this.#contentOf(file);
    const config = { id: digestOf(content), platform: this.#parse(file, content, configShape) };
    this.#configs.set(file, config);
    return config;
  }

  /** Gives each image the full names under which the runtime and pods find it. */
  #named(images: readonly Unnamed[]): ArchivedImage[] {
    const ids = new Set(images.map(({ id }) => id));
    const [first] = images;
    if (this.#name !== undefined) {
      if (ids.size > 1 || first === undefined) {
        throw this.#mistake(`has ${ids.size} images, so that --name cannot name them`);
      }
      return [{ id: first.id, name: this.#name }];
    }
    const named = images.flatMap(({ id, names }) => {
      const full = names.filter((name) => /[/:@]/.test(name)).map((name) => fullName(name, this.#label));
      if (full.length > 0) return full.map((name) => ({ id, name }));
      const tag = names.length > 0 ? ` (only the tag ${names.join(', ')})` : '';
      throw this.#mistake(`has an image without a name${tag}: name it with --name, as in --name web:1`);
    });
    return [...new Map(named.map((image) => [`${image.name} ${image.id}`, image])).values()];
  }

  #fits({ os = '', architecture = '' }: Platform): boolean {
    const { os: ownOs, architecture: own } = this.#platform;
    return (os === '' || os === ownOs) && (architecture === '' || architecture === own);
  }

  #whyNone(platforms: readonly Platform[]): NodeFailure {
    const texts = new Set(platforms.map(platformText).filter((text) => text !== 'unknown/unknown'));
    if (texts.size === 0) return this.#mistake('has no images');
    const built = `build it with --platform ${platformText(this.#platform)}`;
    return this.#mistake(
      `is an image for ${[...texts].join(' and ')}, but this node is ${platformText(this.#platform)}: ${built}`,
    );
  }

  #blob<Value>(descriptor: Descriptor, shape: z.ZodMiniType<Value>): Promise<Value> {
    return this.#json(this.#expectBlob(descriptor, 'manifest'), shape, descriptor.digest);
  }

  /** Returns the name of a blob's file, which has to be there in its full size. */
  #expectBlob({ digest, size }: Descriptor, what: string): string {
    const name = `blobs/${digest.replace(':', '/')}`;
    const member = this.#members.get(name);
    if (member === undefined) throw this.#missing(`the ${what} ${digest}`);
    if (member.size !== size) throw this.#mistake(`is damaged: ${name} has ${member.size} instead of ${size} bytes`);
    return name;
  }

  async #json<Value>(name: string, shape: z.ZodMiniType<Value>, digest?: string): Promise<Value> {
    const content = await this.#contentOf(name);
    if (digest?.startsWith('sha256:') && digestOf(content) !== digest) {
      throw this.#mistake(`is damaged: the content of ${name} does not match its digest`);
    }
    return this.#parse(name, content, shape);
  }

  #parse<Value>(name: string, content: Buffer, shape: z.ZodMiniType<Value>): Value {
    const read = z.safeParse(shape, parsedJson(content.toString('utf8')));
    if (read.success) return read.data;
    throw new NodeFailure('BadRequest', `${this.#label} is damaged: ${name} cannot be read`, { cause: read.error });
  }

  async #contentOf(name: string): Promise<Buffer> {
    const member = this.#members.get(posix.normalize(name));
    if (member === undefined || !member.isFile) throw this.#missing(name);
    if (member.size > LONGEST_JSON) throw this.#mistake(`is damaged: ${name} has ${member.size} bytes`);
    return readAt(this.#file, member.contentAt, member.size);
  }

  /** Streams the members unchanged, except for the listing, which is appended with the full names. */
  async *#content(listing: string, content: Buffer): AsyncGenerator<Uint8Array> {
    const members = [...this.#members.values()].toSorted((a, b) => a.from - b.from);
    for (const { name, from, to } of members) {
      if (posix.normalize(name) === listing) continue;
      for (let at = from; at < to; at += READ_BYTES) {
        const length = Math.min(READ_BYTES, to - at);
        const bytes = await readAt(this.#file, at, length);
        // The padding after the last file may be missing.
        yield bytes.length === length ? bytes : Buffer.concat([bytes], length);
      }
    }
    yield tar([{ type: 'file', path: listing, content, mode: 0o644 }]);
  }

  #missing(what: string): NodeFailure {
    return this.#mistake(`is ${this.#isTerminated ? 'incomplete' : 'truncated'}: ${what} is missing`);
  }

  #mistake(problem: string): NodeFailure {
    return new NodeFailure('BadRequest', `${this.#label} ${problem}`);
  }
}

/** Says that an archive is refused because it expands to more than `limit` bytes. */
export function expandsTooMuch(label: string, limit: number): string {
  const advice = 'if its content is right, decompress the archive and its layers before the import';
  return `${label} expands to more than ${decimalSize(limit)}, which is out of proportion to its size: ${advice}`;
}

const platformText = ({ os, architecture }: Platform): string => `${os || 'linux'}/${architecture || 'unknown'}`;

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Returns the names that a descriptor gives its image. containerd prefers its own annotation. */
function namesOf(descriptor: Descriptor | undefined): string[] {
  const names = new Map(Object.entries(descriptor?.annotations ?? {}));
  const name = names.get(IMAGE_NAME) ?? names.get(REF_NAME);
  return name === undefined || name === '' ? [] : [name];
}

/** Returns the name with its registry and tag, as a pod's `image: web` is looked up. */
export function fullName(name: string, label: string): string {
  const reference = parseImageReference(name);
  if ('refusal' in reference) {
    throw new NodeFailure('InvalidImageName', `${label}: "${name}" is not the name of an image: ${reference.refusal}`);
  }
  const { repository, tag, digest } = reference;
  const suffix = digest === undefined ? `:${tag ?? 'latest'}` : `${tag === undefined ? '' : `:${tag}`}@${digest}`;
  return `${repository}${suffix}`;
}
