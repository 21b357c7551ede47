import { createHash } from 'node:crypto';
import { type TarEntry, tar } from './tar.ts';

/** An image of one layer, as it is named and as its containers start. */
interface ImageRecipe {
  readonly name: string;
  readonly files: readonly TarEntry[];
  readonly config: {
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
    readonly Env?: readonly string[];
    readonly User?: string;
  };
}

/** An image made: its id is the digest of its configuration, as runtimes tell it. */
export interface BuiltImage {
  readonly name: string;
  readonly id: string;
  readonly manifest: Blob;
  readonly blobs: readonly Blob[];
}

interface Blob {
  readonly digest: string;
  readonly content: Buffer;
}

/** What the manifest of an image is called among the kinds of content. */
export const ociManifestType = 'application/vnd.oci.image.manifest.v1+json';

const platform = { architecture: process.arch === 'x64' ? 'amd64' : process.arch, os: 'linux' };

/** Makes an image out of its recipe; the same recipe always gives the same digests. */
export function buildImage({ name, files, config }: ImageRecipe): BuiltImage {
  const layer = blob(tar(files));
  const configBlob = json({ ...platform, config, rootfs: { type: 'layers', diff_ids: [layer.digest] } });
  const manifest = json({
    schemaVersion: 2,
    mediaType: ociManifestType,
    config: descriptor('application/vnd.oci.image.config.v1+json', configBlob),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  return { name, id: configBlob.digest, manifest, blobs: [layer, configBlob, manifest] };
}

/** An OCI image archive with these images, as `ctr images import` reads it. */
export function ociArchive(images: readonly BuiltImage[]): Buffer {
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: images.map(({ name, manifest }) => ({
      ...descriptor(ociManifestType, manifest),
      platform,
      annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.split(':').at(-1) },
    })),
  };
  const blobs = new Map(images.flatMap((image) => image.blobs.map(({ digest, content }) => [digest, content])));
  return tar([
    file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
    file('index.json', Buffer.from(JSON.stringify(index))),
    { type: 'directory', path: 'blobs', mode: 0o755 },
    { type: 'directory', path: 'blobs/sha256', mode: 0o755 },
    ...[...blobs].map(([digest, content]) => file(`blobs/${digest.replace(':', '/')}`, content)),
  ]);
}

function file(path: string, content: Buffer): TarEntry {
  return { type: 'file', path, content, mode: 0o644 };
}

function descriptor(mediaType: string, { digest, content }: Blob) {
  return { mediaType, digest, size: content.length };
}

function json(value: unknown): Blob {
  return blob(Buffer.from(JSON.stringify(value)));
}

function blob(content: Buffer): Blob {
  return { digest: `sha256:${createHash('sha256').update(content).digest('hex')}`, content };
}
