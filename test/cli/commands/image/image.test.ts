/** The image commands over a simulated runtime behind a socket. Real imports are in test/e2e/images.test.ts. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../../../base/time/clock.ts';
import { importImage, listImages, pullImages, removeImages } from '../../../../cli/commands/image/image.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import { ContainerConfig, PodSandboxConfig, VersionResponse } from '../../../../cri/generated/runtime.ts';
import { namesToRemove, removeNames } from '../../../../cri/images/removeNames.ts';
import { buildImage, ociArchive } from '../../../../cri/managed/images/ociArchive.ts';
import { inProcessCri } from '../../../../cri/simulated/inProcessCri.ts';
import type { SimulatedRuntimeOptions } from '../../../../cri/simulated/options.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../../../cri/simulated/runtime.ts';
import { serveSimulatedRuntime } from '../../../../cri/simulated/serveSimulatedRuntime.ts';
import type { CredentialSources } from '../../../../socket/agent.ts';
import { serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { fakeAgent } from '../../../fakes/agent.ts';

const MIB = 2 ** 20;

let directory: string;
let runtime: SimulatedRuntime;
let close: () => Promise<void>;
let options: { readonly containerRuntimeEndpoint: string; readonly rootDir: string };

async function serve(more: Partial<SimulatedRuntimeOptions> = {}): Promise<void> {
  runtime = createSimulatedRuntime({
    clock: systemClock,
    latency: 0,
    images: {
      present: ['web:1', 'registry.local/db:2'],
      registry: { 'example.org/app:1': { sizeBytes: 3 * MIB, pullMs: 0 }, 'example.org/secret:1': { pullMs: 0 } },
      private: { 'example.org/secret': { username: 'me', password: 'hunter2' } },
    },
    ...more,
  });
  const socket = join(directory, 'runtime.sock');
  ({ close } = await serveSimulatedRuntime(runtime, socket));
  options = { containerRuntimeEndpoint: `unix://${socket}`, rootDir: directory };
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-images-'));
  await serve();
});

afterEach(async () => {
  await close();
  await rm(directory, { recursive: true });
});

async function printed(print: (write: (text: string) => void) => Promise<void>): Promise<string> {
  let text = '';
  await print((part) => {
    text += part;
  });
  return text;
}

const list = (names: string[] = [], more: { output?: string; headers?: boolean } = {}) =>
  printed((write) => listImages(names, { ...options, ...more }, write));

test('image list shows names, tags, short IDs and sizes as crictl does', async () => {
  expect(await list()).toMatch(
    /^IMAGE +TAG +IMAGE ID +SIZE +UNUSED +REMOVED +USED BY\ndocker.io\/library\/web +1 +[0-9a-f]{13} +2.1MB +<unknown> +<unknown> +<unknown>\nregistry.local\/db +2 +[0-9a-f]{13} +2.1MB .*\n$/,
  );
  expect(await list(['web:1'], { output: 'wide' })).toMatch(
    /^IMAGE +TAG +DIGEST +IMAGE ID +SIZE +PINNED +UNUSED .*\ndocker.io\/library\/web +1 +<none> +[0-9a-f]{13} +2.1MB +false .*\n$/,
  );
  expect(await list([], { output: 'name' })).toBe('docker.io/library/web:1\nregistry.local/db:2\n');
  expect(JSON.parse(await list(['web:1'], { output: 'json' }))).toEqual({
    images: [
      {
        id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        repoTags: ['docker.io/library/web:1'],
        repoDigests: [],
        size: String(2 * MIB),
        uid: null,
        username: '',
        pinned: false,
      },
    ],
  });
  expect(await list([], { output: 'yaml' })).toMatch(/^images:\n {2}- id: sha256:/);
  expect(await list([], { output: 'jsonpath={.images[*].size}' })).toBe('2097152 2097152');
  await expect(list(['none:1'])).rejects.toThrow('image "none:1" not found');
});

test('C47: image list shows what the running agent knows about the use of each image', async () => {
  const { containerRuntimeEndpoint: socket } = options;
  const [web, db] = runtime.images.listed();
  const agent = fakeAgent({
    now: 0,
    node: { endpoints: { runtime: socket, images: socket } },
    images: [
      { id: web?.id ?? '', users: ['container main of pod default/web'], isPinned: false },
      {
        id: db?.id ?? '',
        users: [],
        isPinned: false,
        unusedSince: Date.now() - 3 * 3_600_000,
        position: 1,
        thresholdPercent: 85,
      },
    ],
  });
  const served = await serveSocket({ path: socketPath(directory), agent });
  try {
    const listed = (output?: string) =>
      printed((write) => listImages([], { rootDir: directory, ...(output ? { output } : {}) }, write));
    expect(await listed()).toMatch(/web +1 .* <none> +not while in use +container main of pod default\/web\n/);
    expect(await listed()).toMatch(/db +2 .* 3h +at 85% disk usage \(place 1\) +<none>\n/);
    expect(JSON.parse(await listed('json')).images[1]).toMatchObject({
      usedBy: [],
      unusedSince: expect.stringMatching(/^\d{4}-/),
      removed: 'at 85% disk usage (place 1)',
    });
  } finally {
    await served.close();
  }
});

test('image pull uses the credentials of the node, and names the import if the pull fails', async () => {
  const pull = (...names: string[]) => printed((write) => pullImages(names, options, write));
  expect(await pull('example.org/app:1')).toMatch(/^pulled example.org\/app:1 \([0-9a-f]{13}, 3.15MB\)\n$/);
  await expect(pull('example.org/secret:1')).rejects.toThrow(
    /^example.org\/secret:1: .*authorization failed; "statelet image import FILE.tar" needs no registry$/,
  );
  const auth = Buffer.from('me:hunter2').toString('base64');
  await writeFile(join(directory, 'config.json'), JSON.stringify({ auths: { 'example.org': { auth } } }));
  expect(await pull('example.org/secret:1')).toMatch(/^pulled example.org\/secret:1 /);
  await expect(pull('Example:1')).rejects.toThrow(/^image pull: "Example:1" is not the name of an image: /);
});

test('image pull uses the credential provider plugins and the directories of the running node', async () => {
  const version = 'credentialprovider.kubelet.k8s.io/v1';
  const auth = { 'example.org': { username: 'me', password: 'hunter2' } };
  const answer = { kind: 'CredentialProviderResponse', apiVersion: version, cacheKeyType: 'Image', auth };
  const provider = { name: 'plugin', apiVersion: version, matchImages: ['example.org'], defaultCacheDuration: '0s' };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  const providers = { config: join(directory, 'plugins.json'), binDir: directory };
  await writeFile(providers.config, JSON.stringify(config));
  await writeFile(join(directory, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`, { mode: 0o755 });
  const { containerRuntimeEndpoint: socket } = options;
  const serveAgent = (registryCredentials: CredentialSources) => {
    const agent = fakeAgent({ now: 0, node: { endpoints: { runtime: socket, images: socket }, registryCredentials } });
    return serveSocket({ path: socketPath(directory), agent });
  };
  const pull = () => printed((write) => pullImages(['example.org/secret:1'], { rootDir: directory }, write));
  const elsewhere = { workingDirectory: join(directory, 'work'), homeDirectory: directory };
  const bare = await serveAgent(elsewhere);
  await expect(pull()).rejects.toThrow('authorization failed');
  await bare.close();
  const withPlugin = await serveAgent({ ...elsewhere, providers });
  expect(await pull()).toMatch(/^pulled example.org\/secret:1 /);
  await withPlugin.close();
  await mkdir(elsewhere.workingDirectory);
  const file = { auths: { 'example.org': { auth: Buffer.from('me:hunter2').toString('base64') } } };
  await writeFile(join(elsewhere.workingDirectory, 'config.json'), JSON.stringify(file));
  const inWorkingDirectory = await serveAgent(elsewhere);
  expect(await pull()).toMatch(/^pulled example.org\/secret:1 /);
  await inWorkingDirectory.close();
});

test('image remove rejects the image of a container, and the sandbox image', async () => {
  const remove = (...names: string[]) => printed((write) => removeImages(names, options, write));
  const call = { signal: new AbortController().signal };
  const cri = inProcessCri(runtime);
  const sandboxConfig = PodSandboxConfig.fromPartial({ metadata: { name: 'web', namespace: 'shop', uid: 'u' } });
  const labels = { 'io.kubernetes.pod.namespace': 'shop', 'io.kubernetes.pod.name': 'web' };
  const config = ContainerConfig.fromPartial({ metadata: { name: 'main' }, image: { image: 'web:1' }, labels });
  const { podSandboxId } = await cri.runPodSandbox({ config: sandboxConfig, runtimeHandler: '' }, call);
  const { containerId } = await cri.createContainer({ podSandboxId, config, sandboxConfig }, call);
  await expect(remove('web:1')).rejects.toThrow('image "web:1" is in use by container main of pod shop/web');
  await cri.removeContainer({ containerId }, call);
  expect(await remove('web:1')).toMatch(/^removed docker.io\/library\/web:1 \([0-9a-f]{13}, 2.1MB\)\n$/);
  await expect(remove('web:1')).rejects.toThrow('image "web:1" not found');
});

test('image remove of one of several names leaves the image under its other names', () => {
  const id = `sha256:${'ab'.repeat(32)}`;
  const digest = (repository: string) => `${repository}@sha256:${'0'.repeat(64)}`;
  const web = { id, repoTags: ['docker.io/library/web:1', 'docker.io/library/web:2'], repoDigests: [] };
  expect(namesToRemove('web:1', web)).toEqual({
    removedNames: ['docker.io/library/web:1'],
    remainingNames: ['docker.io/library/web:2'],
  });
  expect(namesToRemove('abab', web)).toEqual({ removedNames: web.repoTags, remainingNames: [] });
  expect(namesToRemove(id, web)).toEqual({ removedNames: web.repoTags, remainingNames: [] });
  expect(() => namesToRemove('other', web)).toThrow(
    'image "other" has the names docker.io/library/web:1, docker.io/library/web:2: use one of these, or its ID',
  );
  // The digest of a pull is removed together with the last tag of its repository.
  const pulled = {
    id,
    repoTags: ['a.example/web:1', 'a.example/web:2', 'b.example/web:1'],
    repoDigests: [digest('a.example/web'), digest('b.example/web')],
  };
  expect(namesToRemove('a.example/web:1', pulled).removedNames).toEqual(['a.example/web:1']);
  expect(namesToRemove('b.example/web:1', pulled)).toEqual({
    removedNames: ['b.example/web:1', digest('b.example/web')],
    remainingNames: ['a.example/web:1', 'a.example/web:2', digest('a.example/web')],
  });
  expect(namesToRemove(digest('b.example/web'), pulled).removedNames).toEqual([digest('b.example/web')]);
  expect(
    namesToRemove('b.example/web:1', { id, repoTags: ['b.example/web:1'], repoDigests: [] }).remainingNames,
  ).toEqual([]);
});

test('image remove requires the ID if the runtime would remove the other names as well', async () => {
  const names = { removedNames: ['example.org/web:1'], remainingNames: ['example.org/web:2'] };
  const parts = {
    cri: inProcessCri(runtime),
    endpoint: '',
    pause: async () => {},
    signal: new AbortController().signal,
  };
  await expect(removeNames(names, parts)).rejects.toThrow(
    'simulated cannot remove example.org/web:1 without example.org/web:2: remove the image by its ID, or use the tools of that runtime',
  );
  const removed: (string | undefined)[] = [];
  const removeImage: Cri['removeImage'] = async ({ image: spec }) => {
    removed.push(spec?.image);
    return {};
  };
  const version: Cri['version'] = async () => VersionResponse.fromPartial({ runtimeName: 'cri-o' });
  await removeNames(names, { ...parts, cri: { ...parts.cri, version, removeImage } });
  expect(removed).toEqual(['example.org/web:1']);
});

const image = buildImage({ name: 'web:3', files: [], config: { Cmd: ['sh'] } });

const imported = (file: string, content?: Buffer) =>
  printed((write) =>
    importImage(file, options, { write, input: Readable.from(content === undefined ? [] : [content]) }),
  );

test.each([
  ['plain', (content: Buffer) => content],
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
])('image import reads an archive (%s), and rejects a runtime other than containerd', async (_, compressed) => {
  const file = join(directory, 'web.tar');
  const content = compressed(ociArchive([image]));
  await writeFile(file, content);
  const message = 'images can only be imported into containerd, not simulated';
  await expect(imported(file)).rejects.toThrow(message);
  await expect(imported('-', content)).rejects.toThrow(message);
});

test.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
])('an archive that expands without bound (%s) is rejected before it fills the disk', async (_, compressed) => {
  const file = join(directory, 'bomb.tar');
  const temporaryDirectory = join(directory, 'tmp');
  await mkdir(temporaryDirectory);
  await writeFile(file, compressed(Buffer.alloc(8 * MIB)));
  const input = Readable.from([]);
  const importing = importImage(file, options, { write: () => {}, input, temporaryDirectory, maxBytes: MIB });
  await expect(importing).rejects.toThrow(
    `${file} expands to more than 1.05MB, which is out of proportion to its size: if its content is right, decompress`,
  );
  expect(await readdir(temporaryDirectory)).toEqual([]);
});

test('an import that is killed leaves no temporary file', async () => {
  const temporaryDirectory = join(directory, 'tmp');
  await mkdir(temporaryDirectory);
  const namesDuringImport: string[][] = [];
  async function* parts() {
    yield gzipSync(ociArchive([image]));
    namesDuringImport.push(await readdir(temporaryDirectory));
  }
  const input = Readable.from(parts());
  await expect(importImage('-', options, { write: () => {}, input, temporaryDirectory })).rejects.toThrow(
    'not simulated',
  );
  expect(namesDuringImport).toEqual([[]]);
});

test('a file that cannot be imported is rejected in one sentence', async () => {
  const file = join(directory, 'web.tar');
  await expect(imported(file)).rejects.toThrow(new RegExp(`^${file}: no such file$`));
  await expect(imported(directory)).rejects.toThrow(/ is not a file: expected a tar archive/);
  await writeFile(file, 'no archive');
  await expect(imported(file)).rejects.toThrow(new RegExp(`^${file} is not a tar archive$`));
  await writeFile(file, gzipSync(ociArchive([image])).subarray(0, 100));
  await expect(imported(file)).rejects.toThrow(new RegExp(`^${file} is truncated or damaged: unexpected end of file$`));
  await expect(imported('-', Buffer.from('no archive'))).rejects.toThrow(/^the standard input is not a tar archive$/);
});

test('a FIFO is rejected without waiting for it', async () => {
  const file = join(directory, 'web.tar');
  execFileSync('mkfifo', [file]);
  await expect(imported(file)).rejects.toThrow(/ is not a file: expected a tar archive/);
});

test('image commands use the runtime of the running agent, unless that is simulated', async () => {
  const { containerRuntimeEndpoint: socket } = options;
  const agentAt = async (node: object) => {
    const agent = fakeAgent({ now: 0, node: { endpoints: { runtime: socket, images: socket }, ...node } });
    return serveSocket({ path: socketPath(directory), agent });
  };
  const names = () => printed((write) => listImages([], { rootDir: directory, output: 'name' }, write));
  const real = await agentAt({});
  expect(await names()).toContain('docker.io/library/web:1\n');
  await real.close();
  const simulated = await agentAt({ simulated: true });
  await expect(names()).rejects.toThrow(/^the agent runs on the simulated runtime, which needs no images/);
  await simulated.close();
});
