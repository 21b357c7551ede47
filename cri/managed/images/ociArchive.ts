import { createHash } from 'node:crypto';
import { type TarEntry, tar } from './tar.ts';

/** Name, files and configuration of an image with a single layer. */
interface ImageSource {
  readonly name: string;
  readonly files: readonly TarEntry[];
  readonly config: {
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
    readonly Env?: readonly string[];
    readonly User?: string;
  };
}

/** A built image. Its ID is the digest of its configuration, as in the CRI. */
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

/** Media type of an image's manifest. */
export const OCI_MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';

const PLATFORM = { architecture: process.arch === 'x64' ? 'amd64' : process.arch, os: 'linux' };

/** Builds an image. The same source always results in the same digests. */
export function buildImage({ name, files, config }: ImageSource): BuiltImage {
  const layer = toBlob(tar(files));
  const configBlob = jsonBlob({ ...PLATFORM, config, rootfs: { type: 'layers', diff_ids: [layer.digest] } });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST_TYPE,
    config: createDescriptor('application/vnd.oci.image.config.v1+json', configBlob),
    layers: [createDescriptor('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  return { name, id: configBlob.digest, manifest, blobs: [layer, configBlob, manifest] };
}

/** Returns an OCI archive of the images for `ctr images import`. */
export function ociArchive(images: readonly BuiltImage[]): Buffer {
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: images.map(({ name, manifest }) => ({
      ...createDescriptor(OCI_MANIFEST_TYPE, manifest),
      platform: PLATFORM,
      annotations: { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.split(':').at(-1) },
    })),
  };
  const blobs = new Map(images.flatMap((image) => image.blobs.map(({ digest, content }) => [digest, content])));
  return tar([
    fileEntry('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
    fileEntry('index.json', Buffer.from(JSON.stringify(index))),
    { type: 'directory', path: 'blobs', mode: 0o755 },
    { type: 'directory', path: 'blobs/sha256', mode: 0o755 },
    ...[...blobs].map(([digest, content]) => fileEntry(`blobs/${digest.replace(':', '/')}`, content)),
  ]);
}

function fileEntry(path: string, content: Buffer): TarEntry {
  return { type: 'file', path, content, mode: 0o644 };
}

function createDescriptor(mediaType: string, { digest, content }: Blob) {
  return { mediaType, digest, size: content.length };
}

function jsonBlob(value: unknown): Blob {
  return toBlob(Buffer.from(JSON.stringify(value)));
}

function toBlob(content: Buffer): Blob {
  return { digest: `sha256:${createHash('sha256').update(content).digest('hex')}`, content };
}
