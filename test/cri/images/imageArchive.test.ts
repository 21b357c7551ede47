import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type ImageArchive, readImageArchive } from '../../../cri/images/imageArchive.ts';
import { listTarMembers, readAt } from '../../../cri/images/tarMembers.ts';
import { tar } from '../../../cri/managed/images/tar.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-archive-'));
});
afterEach(() => rm(directory, { recursive: true }));

type Files = ReadonlyMap<string, string>;

const digestOf = (content: string | Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

const archiveOf = (files: Files): Buffer =>
  tar([...files].map(([path, content]) => ({ type: 'file', path, content: Buffer.from(content), mode: 0o644 })));

interface Read extends ImageArchive {
  /** The files that the runtime receives. */
  readonly passed: Files;
}

interface ReadOptions {
  readonly name?: string;
  readonly arch?: string;
  readonly maxUnpackedBytes?: number;
  /** Called for each read of the archive before the runtime receives it. */
  readonly onRead?: () => void;
}

async function read(content: Buffer, { onRead = () => {}, ...options }: ReadOptions = {}): Promise<Read> {
  const path = join(directory, 'web.tar');
  await writeFile(path, content);
  const file = await open(path);
  try {
    const original = file.read.bind(file);
    const reads = jest.spyOn(file, 'read').mockImplementation((...args: Parameters<typeof file.read>) => {
      onRead();
      return original(...args);
    });
    const archive = await readImageArchive(file, { label: 'web.tar', arch: 'x64', ...options });
    reads.mockRestore();
    const output = join(directory, 'passed.tar');
    await writeFile(output, archive.content());
    const passed = await open(output);
    const { members } = await listTarMembers(passed);
    const texts = await Promise.all(members.map(({ contentOffset, size }) => readAt(passed, contentOffset, size)));
    await passed.close();
    return { ...archive, passed: new Map(members.map(({ name }, index) => [name, String(texts[index])])) };
  } finally {
    await file.close();
  }
}

const AMD64 = { os: 'linux', architecture: 'amd64' };
const ARM64 = { os: 'linux', architecture: 'arm64' };

const CONFIG = JSON.stringify({ ...AMD64, config: { Cmd: ['sh'] } });
const ID = digestOf(CONFIG);

const docker = (tags: readonly string[] | null, config = CONFIG): Files =>
  new Map([
    ['config.json', config],
    ['layer/layer.tar', 'a layer'],
    ['manifest.json', JSON.stringify([{ Config: 'config.json', RepoTags: tags, Layers: ['layer/layer.tar'] }])],
  ]);

const OCI = 'application/vnd.oci.image';

/** Returns the blobs of an image and the descriptor of its manifest. */
function blobsOf(platform: object, configType = `${OCI}.config.v1+json`) {
  const config = JSON.stringify({ ...platform, config: {} });
  const layer = `the layer for ${JSON.stringify(platform)}`;
  const descriptor = (mediaType: string, content: string) => ({
    mediaType,
    digest: digestOf(content),
    size: Buffer.byteLength(content),
  });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    config: descriptor(configType, config),
    layers: [descriptor(`${OCI}.layer.v1.tar`, layer)],
  });
  const files = [config, layer, manifest].map((content) => [blobName(content), content] as const);
  return {
    id: digestOf(config),
    files,
    layer: blobName(layer),
    manifest: descriptor(`${OCI}.manifest.v1+json`, manifest),
  };
}

const blobName = (content: string) => `blobs/${digestOf(content).replace(':', '/')}`;

function oci(manifests: readonly object[], files: readonly (readonly [string, string])[]): Map<string, string> {
  return new Map([
    ['oci-layout', '{"imageLayoutVersion":"1.0.0"}'],
    ['index.json', JSON.stringify({ schemaVersion: 2, manifests })],
    ...files,
  ]);
}

const named = (name: string) => ({ annotations: { 'org.opencontainers.image.ref.name': name } });

test('imports an image from docker save under the full name that pods use', async () => {
  const { images, passed } = await read(archiveOf(docker(['web:1', 'registry.local:5000/shop/web:2'])));
  expect(images).toEqual([
    { id: ID, name: 'docker.io/library/web:1' },
    { id: ID, name: 'registry.local:5000/shop/web:2' },
  ]);
  expect(JSON.parse(passed.get('manifest.json') ?? '')).toEqual([
    {
      Config: 'config.json',
      RepoTags: ['docker.io/library/web:1', 'registry.local:5000/shop/web:2'],
      Layers: ['layer/layer.tar'],
    },
  ]);
  expect([passed.get('config.json'), passed.get('layer/layer.tar')]).toEqual([CONFIG, 'a layer']);
});

test('import assigns the full name to an OCI layout image and leaves its blobs unchanged', async () => {
  const { id, files, manifest } = blobsOf(AMD64);
  const { images, passed } = await read(archiveOf(oci([{ ...manifest, ...named('web:1') }], files)));
  expect(images).toEqual([{ id, name: 'docker.io/library/web:1' }]);
  const annotations = {
    'io.containerd.image.name': 'docker.io/library/web:1',
    'org.opencontainers.image.ref.name': 'docker.io/library/web:1',
  };
  expect(JSON.parse(passed.get('index.json') ?? '')).toMatchObject({ manifests: [{ ...manifest, annotations }] });
  for (const [name, content] of files) expect(passed.get(name)).toBe(content);
});

test("selects the node's platform from a multi-platform image", async () => {
  const [amd64, arm64] = [blobsOf(AMD64), blobsOf(ARM64)];
  const nested = JSON.stringify({
    schemaVersion: 2,
    manifests: [
      { ...arm64.manifest, platform: ARM64 },
      { ...amd64.manifest, platform: AMD64 },
      { ...amd64.manifest, digest: `sha256:${'0'.repeat(64)}`, platform: { os: 'unknown', architecture: 'unknown' } },
    ],
  });
  const index = { mediaType: `${OCI}.index.v1+json`, digest: digestOf(nested), size: nested.length, ...named('web:1') };
  const all = archiveOf(oci([index], [...amd64.files, ...arm64.files, [blobName(nested), nested]]));
  expect((await read(all)).images).toEqual([{ id: amd64.id, name: 'docker.io/library/web:1' }]);
  expect((await read(all, { arch: 'arm64' })).images[0]?.id).toBe(arm64.id);
  const one = archiveOf(oci([index], [...amd64.files, [blobName(nested), nested]]));
  expect((await read(one)).images[0]?.id).toBe(amd64.id);
  await expect(read(all, { arch: 's390x' })).rejects.toThrow(
    'web.tar is an image for linux/arm64 and linux/amd64, but this node is linux/s390x: build it with --platform linux/s390x',
  );
});

test('names an image without a name from the command line', async () => {
  const { files, manifest } = blobsOf(AMD64);
  const untagged = archiveOf(docker(null));
  const tagged = archiveOf(oci([{ ...manifest, ...named('latest') }], files));
  await expect(read(untagged)).rejects.toThrow(/^web.tar has an image without a name: name it with --name, as in/);
  await expect(read(tagged)).rejects.toThrow(/^web.tar has an image without a name \(only the tag latest\): name it/);
  expect((await read(untagged, { name: 'web' })).images).toEqual([{ id: ID, name: 'docker.io/library/web:latest' }]);
  expect((await read(tagged, { name: 'web:2' })).images[0]?.name).toBe('docker.io/library/web:2');
  await expect(read(untagged, { name: 'Web:1' })).rejects.toThrow(/^--name: "Web:1" is not the name of an image: /);
  const other = blobsOf({ ...AMD64, variant: 'v2' });
  const two = [
    { ...manifest, ...named('a:1') },
    { ...other.manifest, ...named('b:1') },
  ];
  const both = archiveOf(oci(two, [...files, ...other.files]));
  expect((await read(both)).images).toHaveLength(2);
  await expect(read(both, { name: 'web:1' })).rejects.toThrow('web.tar has 2 images, so that --name cannot name them');
});

test("rejects an image for a different platform and names the node's platform", async () => {
  const config = JSON.stringify({ ...ARM64, config: {} });
  await expect(read(archiveOf(docker(['web:1'], config)))).rejects.toThrow(
    'web.tar is an image for linux/arm64, but this node is linux/amd64: build it with --platform linux/amd64',
  );
  const [amd64, arm64] = [blobsOf(AMD64), blobsOf(ARM64)];
  const two = [
    { ...amd64.manifest, ...named('a:1') },
    { ...arm64.manifest, ...named('b:1') },
  ];
  await expect(read(archiveOf(oci(two, [...amd64.files, ...arm64.files])))).rejects.toThrow(
    /is an image for linux\/arm64/,
  );
});

test.each<[string, RegExp, () => Buffer]>([
  ['no tar archive', /^web.tar is not a tar archive$/, () => Buffer.from('hello')],
  ['a truncated archive', /^web.tar is truncated: /, () => archiveOf(docker(['web:1'])).subarray(0, 1_600)],
  [
    'an archive of something else',
    /^web.tar has no manifest: expected a docker-archive \(manifest.json\)/,
    () => archiveOf(new Map([['etc/passwd', 'root']])),
  ],
  ['an archive without images', /^web.tar has no images$/, () => archiveOf(oci([], []))],
  [
    'an archive without a layer',
    /^web.tar is incomplete: the layer layer\/layer.tar is missing$/,
    () => archiveOf(new Map([...docker(['web:1'])].filter(([name]) => name !== 'layer/layer.tar'))),
  ],
  [
    'an archive without a configuration',
    /^web.tar is incomplete: config.json is missing$/,
    () => archiveOf(new Map([...docker(['web:1'])].filter(([name]) => name !== 'config.json'))),
  ],
  [
    'an unreadable manifest',
    /^web.tar is damaged: manifest.json cannot be read$/,
    () => archiveOf(new Map([...docker(['web:1']), ['manifest.json', '[{]']])),
  ],
  ['a name that is none', /^web.tar: "Web:1" is not the name of an image: /, () => archiveOf(docker(['Web:1']))],
])('%s is rejected in one sentence', async (_, message, content) => {
  await expect(read(content())).rejects.toThrow(message);
});

test('rejects a layout with damaged or missing blobs, or with a different kind of artifact, in one sentence', async () => {
  const { files, manifest, layer } = blobsOf(AMD64);
  const web = { ...manifest, ...named('web:1') };
  const changed = (name: string, content?: string) =>
    read(
      archiveOf(
        oci(
          [web],
          files.flatMap((file) =>
            file[0] !== name ? [file] : content === undefined ? [] : [[name, content] as const],
          ),
        ),
      ),
    );
  const manifestName = `blobs/${manifest.digest.replace(':', '/')}`;
  await expect(changed(layer)).rejects.toThrow(/^web.tar is incomplete: the layer sha256:[0-9a-f]{64} is missing$/);
  await expect(changed(layer, 'short')).rejects.toThrow(/^web.tar is damaged: blobs\/\S+ has 5 instead of \d+ bytes$/);
  await expect(changed(manifestName)).rejects.toThrow(/^web.tar is incomplete: the manifest sha256:\S+ is missing$/);
  const [, text = ''] = files.find(([name]) => name === manifestName) ?? [];
  await expect(changed(manifestName, text.replace('"layers"', '"lavers"'))).rejects.toThrow(
    /does not match its digest$/,
  );
  const chart = blobsOf(AMD64, 'application/vnd.cncf.helm.config.v1+json');
  await expect(read(archiveOf(oci([{ ...chart.manifest, ...named('web:1') }], chart.files)))).rejects.toThrow(
    /^web.tar has no container image: sha256:\S+ is of type application\/vnd.cncf.helm.config.v1\+json$/,
  );
});

test('accepts paths that start with a dot', async () => {
  const files = new Map([...docker(['web:1'])].map(([name, content]) => [`./${name}`, content]));
  expect((await read(archiveOf(files))).images[0]?.name).toBe('docker.io/library/web:1');
  expect((await readFile(join(directory, 'passed.tar'))).length % 512).toBe(0);
});

test('reads an index once even if it is referenced many times at each depth', async () => {
  const image = blobsOf(AMD64);
  const files = [...image.files];
  let inner: object = image.manifest;
  for (let depth = 0; depth < 3; depth += 1) {
    const index = JSON.stringify({ schemaVersion: 2, manifests: Array.from({ length: 1_000 }, () => inner) });
    files.push([blobName(index), index]);
    inner = { mediaType: `${OCI}.index.v1+json`, digest: digestOf(index), size: Buffer.byteLength(index) };
  }
  const { images } = await read(archiveOf(oci([{ ...inner, ...named('web:1') }], files)));
  expect(images).toEqual([{ id: image.id, name: 'docker.io/library/web:1' }]);
});

test('rejects a listing that is nested too deeply in one sentence', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const listing = `[{ "Config": "config.json", "RepoTags": ["web:1"], "Layers": [], "Other": ${deep} }]`;
  const files = new Map([...docker(['web:1']), ['manifest.json', listing]]);
  await expect(read(archiveOf(files))).rejects.toThrow(/^web.tar is damaged: manifest.json is nested too deeply$/);
});

/** Returns the OCI layout of an image with these layers. */
function ociOf(layers: readonly Buffer[]): Buffer {
  const blob = (content: Buffer) => ({ content, digest: digestOf(content) });
  const config = blob(Buffer.from(CONFIG));
  const blobs = layers.map(blob);
  const descriptor = (mediaType: string, { content, digest }: ReturnType<typeof blob>) => ({
    mediaType: `${OCI}.${mediaType}`,
    digest,
    size: content.length,
  });
  const manifest = blob(
    Buffer.from(
      JSON.stringify({
        config: descriptor('config.v1+json', config),
        layers: blobs.map((each) => descriptor('layer.v1.tar+gzip', each)),
      }),
    ),
  );
  const index = { manifests: [{ ...descriptor('manifest.v1+json', manifest), ...named('web:1') }] };
  const unique = new Map([config, manifest, ...blobs].map((each) => [each.digest, each.content]));
  const file = (path: string, content: Buffer) => ({ type: 'file', path, content, mode: 0o644 }) as const;
  return tar([
    file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
    file('index.json', Buffer.from(JSON.stringify(index))),
    ...[...unique].map(([digest, content]) => file(`blobs/${digest.replace(':', '/')}`, content)),
  ]);
}

const MIB = 2 ** 20;
const zeros = (bytes: number) => tar([{ type: 'file', path: 'zeros', content: Buffer.alloc(bytes), mode: 0o644 }]);

/** A skippable zstd frame, which decompresses to nothing. */
const SKIPPABLE = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0xff, 0xff]);

/** Compresses content to two frames with zstd, as `pzstd` does. The first does not fill the last buffer of a decompressor. */
const zstdFrames = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, MIB + 1), bytes.subarray(MIB + 1)].map((part) => zstdCompressSync(part)));

/** Returns a layer with a sparse file of this size. */
async function sparseLayer(bytes: number, format: string): Promise<Buffer> {
  const file = await open(join(directory, 'sparse'), 'w');
  await file.truncate(bytes);
  await file.close();
  return execFileSync('tar', ['-C', directory, '--sparse', ...format.split(' '), '-cf', '-', 'sparse']);
}

const tooLarge =
  /^web\.tar expands to more than 2\.1MB, which is out of proportion to its size: if its content is right, /;

test.each([
  ['a gzip layer', async () => [gzipSync(zeros(8 * MIB))]],
  ['a zstd layer', async () => [zstdCompressSync(zeros(8 * MIB))]],
  ['a zstd layer of many frames', async () => [zstdFrames(Buffer.alloc(8 * MIB, 'x'))]],
  ['a zstd layer after a skippable frame', async () => [Buffer.concat([SKIPPABLE, zstdFrames(zeros(8 * MIB))])]],
  ['a compressed layer that is no tar', async () => [gzipSync(Buffer.alloc(8 * MIB, 'x'))]],
  ['a layer that is listed many times', async () => Array(16).fill(gzipSync(zeros(MIB / 4)))],
  ['a sparse file of GNU tar', () => sparseLayer(8 * MIB, '--format=gnu').then((layer) => [layer])],
  ['a sparse file of pax', () => sparseLayer(8 * MIB, '--format=posix').then((layer) => [layer])],
  ['a sparse file of pax 0.1', async () => [await sparseLayer(8 * MIB, '--format=posix --sparse-version=0.1')]],
  ['a compressed sparse file', async () => [gzipSync(await sparseLayer(8 * MIB, '--format=gnu'))]],
])('%s that expands out of proportion is rejected before the runtime unpacks it', async (_, layers) => {
  const archive = ociOf(await layers());
  await expect(read(archive, { maxUnpackedBytes: 2 * MIB })).rejects.toThrow(tooLarge);
  expect((await read(archive, { maxUnpackedBytes: 16 * MIB })).images).toHaveLength(1);
});

test('counts a layer that "docker save" has replaced by a link', async () => {
  const files = [...docker(['web:1'])].filter(([path]) => path !== 'layer/layer.tar');
  const archive = tar([
    ...files.map(([path, content]) => ({ type: 'file', path, content: Buffer.from(content), mode: 0o644 }) as const),
    { type: 'symlink', path: 'layer/layer.tar', target: '../base/layer.tar' },
    { type: 'file', path: 'base/layer.tar', content: gzipSync(zeros(8 * MIB)), mode: 0o644 },
  ]);
  await expect(read(archive, { maxUnpackedBytes: 2 * MIB })).rejects.toThrow(tooLarge);
});

test('rejects an image with more layers than overlayfs can mount and imports one with the maximum', async () => {
  const layers = Array.from({ length: 501 }, (_, index) =>
    tar([{ type: 'file', path: `file-${index}`, content: Buffer.alloc(0), mode: 0o644 }]),
  );
  await expect(read(ociOf(layers))).rejects.toThrow(
    'web.tar has an image of 501 layers, but overlayfs mounts at most 500: build it with fewer layers',
  );
  expect((await read(ociOf(layers.slice(1)))).images).toHaveLength(1);
});

test('reads and writes duplicate entries of an image once', async () => {
  const entries = Array.from({ length: 2_000 }, (_, index) => ({
    Config: 'config.json',
    RepoTags: [`web:${index}`],
    Layers: ['layer/layer.tar'],
  }));
  const files = new Map([...docker(['web:1']), ['manifest.json', JSON.stringify(entries)]]);
  let reads = 0;
  const { images, passed } = await read(archiveOf(files), { onRead: () => (reads += 1) });
  expect(images).toHaveLength(2_000);
  expect(reads).toBeLessThan(20);
  const [entry, ...others] = JSON.parse(passed.get('manifest.json') ?? '');
  expect([entry.RepoTags.length, others]).toEqual([2_000, []]);
});
